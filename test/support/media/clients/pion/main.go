// Pion as a WHIP publisher or WHEP viewer: pion whip|whep URL TOKEN VP8|H264 SECONDS [FILE]
//
// Prints one line of JSON when it ends: the status of the answer, and how many pictures it sent or got. FILE: IVF with VP8, or H.264 in Annex B.
// Built with Debian's packages: GO111MODULE=off GOPATH=/usr/share/gocode go build
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
	"github.com/pion/webrtc/v3/pkg/media/h264reader"
	"github.com/pion/webrtc/v3/pkg/media/ivfreader"
)

const pictureTime = time.Second / 15

type result struct {
	Status   int    `json:"status"`
	Pictures int64  `json:"pictures"`
	State    string `json:"state"`
	Goodbye  int    `json:"goodbye"`
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[5], 64)
	check(err)
	var pictures int64
	connection, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	check(err)
	connected := make(chan struct{})
	connection.OnICEConnectionStateChange(func(state webrtc.ICEConnectionState) {
		if state == webrtc.ICEConnectionStateConnected {
			close(connected)
		}
	})
	if os.Args[1] == "whip" {
		mime := map[string]string{"VP8": webrtc.MimeTypeVP8, "H264": webrtc.MimeTypeH264}[os.Args[4]]
		track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: mime}, "video", "pion")
		check(err)
		transceiver, err := connection.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
		check(err)
		check(transceiver.SetCodecPreferences(preferring(os.Args[4])))
		go func() {
			<-connected
			send(track, os.Args[4], os.Args[6], &pictures)
		}()
	} else {
		_, err = connection.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly})
		check(err)
		connection.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
			for {
				packet, _, err := track.ReadRTP()
				if err != nil {
					return
				}
				if packet.Marker {
					atomic.AddInt64(&pictures, 1)
				}
			}
		})
	}
	offer, err := connection.CreateOffer(nil)
	check(err)
	gathered := webrtc.GatheringCompletePromise(connection)
	check(connection.SetLocalDescription(offer))
	<-gathered
	status, location, answer := ask("POST", os.Args[2], connection.LocalDescription().SDP)
	told := result{Status: status}
	if status == http.StatusCreated {
		err = connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer})
		if err == nil {
			time.Sleep(time.Duration(seconds * float64(time.Second)))
			told.State = connection.ConnectionState().String()
		} else {
			told.State = err.Error()
		}
		base, _ := url.Parse(os.Args[2])
		session, _ := base.Parse(location)
		told.Goodbye, _, _ = ask("DELETE", session.String(), "")
	}
	told.Pictures = atomic.LoadInt64(&pictures)
	line, _ := json.Marshal(told)
	fmt.Println(string(line))
}

// Both codecs, this one first: by itself Pion offers VP8 first, whatever its track holds.
func preferring(codec string) []webrtc.RTPCodecParameters {
	vp8 := webrtc.RTPCodecParameters{
		RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000},
		PayloadType:        96,
	}
	h264 := webrtc.RTPCodecParameters{
		RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType:    webrtc.MimeTypeH264,
			ClockRate:   90000,
			SDPFmtpLine: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f",
		},
		PayloadType: 102,
	}
	if codec == "VP8" {
		return []webrtc.RTPCodecParameters{vp8, h264}
	}
	return []webrtc.RTPCodecParameters{h264, vp8}
}

func send(track *webrtc.TrackLocalStaticSample, codec string, name string, pictures *int64) {
	for range time.Tick(pictureTime) {
		file, err := os.Open(name)
		check(err)
		next := reader(codec, file)
		for {
			data, isPicture, err := next()
			if errors.Is(err, io.EOF) {
				break
			}
			check(err)
			check(track.WriteSample(media.Sample{Data: data, Duration: pictureTime}))
			if isPicture {
				atomic.AddInt64(pictures, 1)
				time.Sleep(pictureTime)
			}
		}
		file.Close()
	}
}

// The next frame, or NAL unit, of a file, and whether it holds a picture.
func reader(codec string, file io.Reader) func() ([]byte, bool, error) {
	if codec == "VP8" {
		ivf, _, err := ivfreader.NewWith(file)
		check(err)
		return func() ([]byte, bool, error) {
			frame, _, err := ivf.ParseNextFrame()
			return frame, true, err
		}
	}
	h264, err := h264reader.NewReader(file)
	check(err)
	return func() ([]byte, bool, error) {
		unit, err := h264.NextNAL()
		if err != nil {
			return nil, false, err
		}
		return unit.Data, unit.UnitType == h264reader.NalUnitTypeCodedSliceNonIdr || unit.UnitType == h264reader.NalUnitTypeCodedSliceIdr, nil
	}
}

func ask(method string, address string, body string) (int, string, string) {
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	check(err)
	request.Header.Set("Content-Type", "application/sdp")
	request.Header.Set("Authorization", "Bearer "+os.Args[3])
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(err)
	return response.StatusCode, response.Header.Get("Location"), string(text)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
