"""The certificate view: the form that asks for a proof, its checks, and the tables behind them."""
