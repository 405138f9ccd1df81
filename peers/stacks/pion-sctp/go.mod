module unruffled/peers/stacks/pion-sctp

go 1.26

require (
	github.com/pion/logging v0.2.4
	github.com/pion/randutil v0.1.0
	github.com/pion/sctp v1.12.1
	unruffled/peers/stacks/golang v0.0.0
)

require github.com/pion/transport/v5 v5.1.4 // indirect

replace unruffled/peers/stacks/golang => ../golang
