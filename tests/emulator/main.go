// A Bigtable emulator for tests, where Google's is not installed: the fake of Google's own Go library, as Debian
// packages it (golang-google-cloud-dev). Says where it listens as Google's emulator does. Holds everything in memory.
package main

import (
	"flag"
	"fmt"
	"log"

	"cloud.google.com/go/bigtable/bttest"
	"google.golang.org/grpc"
)

func main() {
	host := flag.String("host", "localhost", "address to listen on")
	port := flag.Int("port", 9000, "port to listen on; 0 for a free one")
	flag.Parse()
	const most = 256 << 20 // Bytes of one message: what the service takes.
	server, err := bttest.NewServer(fmt.Sprintf("%s:%d", *host, *port),
		grpc.MaxRecvMsgSize(most), grpc.MaxSendMsgSize(most))
	if err != nil {
		log.Fatalf("cannot start the emulator: %v", err)
	}
	fmt.Printf("Cloud Bigtable emulator running on %s\n", server.Addr)
	select {}
}
