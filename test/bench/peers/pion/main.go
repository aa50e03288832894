// A forwarder on Pion: RTP of one camera comes in by UDP, viewers are answered over HTTP (WHEP without trickle): pion
//
// Prints "HTTP-port RTP-port" when it listens. Built with Debian's packages: GO111MODULE=off GOPATH=/usr/share/gocode go build
package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v3"
)

func main() {
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{
		MimeType:    webrtc.MimeTypeH264,
		ClockRate:   90000,
		SDPFmtpLine: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
	}, "video", "camera")
	check(err)
	source, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(err)
	check(source.SetReadBuffer(4 << 20))
	go forward(source, track)

	// One port for everybody, as the others have it.
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true)
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{})
	check(err)
	settings.SetICEUDPMux(webrtc.NewICEUDPMux(nil, socket))
	media := &webrtc.MediaEngine{}
	check(media.RegisterDefaultCodecs())
	// What Pion comes with: reports, and packets that were missed sent again.
	registry := &interceptor.Registry{}
	check(webrtc.RegisterDefaultInterceptors(media, registry))
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))

	var sessions sync.Map
	http.HandleFunc("/whep", func(writer http.ResponseWriter, request *http.Request) {
		offer, err := io.ReadAll(request.Body)
		check(err)
		connection, answer, err := watch(api, track, string(offer))
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		name := make([]byte, 9)
		_, err = rand.Read(name)
		check(err)
		sessions.Store(hex.EncodeToString(name), connection)
		writer.Header().Set("Location", "/session/"+hex.EncodeToString(name))
		writer.Header().Set("Content-Type", "application/sdp")
		writer.WriteHeader(http.StatusCreated)
		io.WriteString(writer, answer)
	})
	http.HandleFunc("/session/", func(writer http.ResponseWriter, request *http.Request) {
		found, ok := sessions.LoadAndDelete(strings.TrimPrefix(request.URL.Path, "/session/"))
		if !ok {
			http.NotFound(writer, request)
			return
		}
		found.(*webrtc.PeerConnection).Close()
	})
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port, source.LocalAddr().(*net.UDPAddr).Port)
	// Its parent holds the other end: without it there is nobody to serve.
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	check(http.Serve(listener, nil))
}

func forward(source *net.UDPConn, track *webrtc.TrackLocalStaticRTP) {
	packet := make([]byte, 2048)
	for {
		length, err := source.Read(packet)
		check(err)
		// One viewer that is gone must not end it for all.
		_, _ = track.Write(packet[:length])
	}
}

func watch(api *webrtc.API, track webrtc.TrackLocal, offer string) (*webrtc.PeerConnection, string, error) {
	connection, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, "", err
	}
	connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state == webrtc.PeerConnectionStateFailed {
			connection.Close()
		}
	})
	sender, err := connection.AddTrack(track)
	if err != nil {
		return nil, "", err
	}
	// Interceptors read the viewer's reports by it.
	go func() {
		buffer := make([]byte, 1500)
		for {
			if _, _, err := sender.Read(buffer); err != nil {
				return
			}
		}
	}()
	if err = connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return nil, "", err
	}
	answer, err := connection.CreateAnswer(nil)
	if err != nil {
		return nil, "", err
	}
	gathered := webrtc.GatheringCompletePromise(connection)
	if err = connection.SetLocalDescription(answer); err != nil {
		return nil, "", err
	}
	<-gathered
	return connection, connection.LocalDescription().SDP, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
