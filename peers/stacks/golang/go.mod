module unruffled/peers/stacks/golang

go 1.26
