module unruffled/peers/stacks/lwip

go 1.26

require unruffled/peers/stacks/golang v0.0.0

replace unruffled/peers/stacks/golang => ../golang
