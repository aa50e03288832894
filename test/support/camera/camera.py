#!/usr/bin/python3
"""A real RTSP camera for tests: GStreamer's RTSP server with a small test picture.

Needs: python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-{base,good,bad,ugly} gstreamer1.0-libav
Mounts: /cam (H.264 + PCMU), /pcma, /opus, /aac, /video (no sound), /h265, /udp (UDP only), /small (160x90), /stream1 and /stream2 (as /cam without sound, and 160x90), /jpeg, /two (two videos and PCMU), /bframes, /h265aac, /jpegaac, /latm, /g726, /aal2g726, /high10, /high422, /high444, /interlaced, /sync (white for every other half second, with a tick each second; the picture comes half a second later), /syncmp2 and /syncmp3 (as /sync with MPEG audio), and / (an address without a path).
Prints "ready <port>" when it listens.
"""
import argparse
import os
import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstRtsp', '1.0')
gi.require_version('GstRtspServer', '1.0')
from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument('--host', default='127.0.0.1')
parser.add_argument('--port', type=int, default=0)
parser.add_argument('--auth', choices=['none', 'basic', 'digest'], default='none')
parser.add_argument('--user', default='admin')
parser.add_argument('--password', default='se:cret')
parser.add_argument('--timeout', type=int, default=60, help='seconds of an RTSP session')
parser.add_argument('--tls', default='', help='PEM file with certificate and key')
parser.add_argument('--width', type=int, default=640)
parser.add_argument('--height', type=int, default=360)
parser.add_argument('--fps', type=int, default=15)
parser.add_argument('--kbps', type=int, default=600)
parser.add_argument('--gop', type=int, default=15)
parser.add_argument('--mtu', type=int, default=1200, help='longest RTP packet of video, in bytes')
parser.add_argument('--pattern', default='ball', help='of videotestsrc')
parser.add_argument('--config-interval', type=int, default=-1, help='-1: parameter sets before each key frame; 0: in the SDP only')
options = parser.parse_args()
Gst.init(None)


def source(width, height):
    return (f'videotestsrc is-live=true pattern={options.pattern} ! video/x-raw,format=I420,width={width},height={height},framerate={options.fps}/1 ')


def h264(width, height, kbps):
    return (source(width, height) + f'! x264enc tune=zerolatency speed-preset=ultrafast bitrate={kbps} key-int-max={options.gop} bframes=0 '
            '! video/x-h264,profile=constrained-baseline ! h264parse '
            f'! rtph264pay name=pay0 pt=96 aggregate-mode=none config-interval={options.config_interval} mtu={options.mtu} ')


main = h264(options.width, options.height, options.kbps)
h265 = (source(options.width, options.height) + f'! x265enc tune=zerolatency speed-preset=ultrafast bitrate={options.kbps} key-int-max={options.gop} '
        f'! h265parse ! rtph265pay name=pay0 pt=96 config-interval=-1 mtu={options.mtu} ')
bframes = (source(options.width, options.height) + f'! x264enc b-adapt=false bframes=2 speed-preset=ultrafast bitrate={options.kbps} key-int-max={options.gop} '
           '! video/x-h264,profile=main ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 mtu=1200 ')
jpeg = source(options.width, options.height) + '! jpegenc ! rtpjpegpay name=pay0 pt=26 '
tone = 'audiotestsrc is-live=true freq=440 volume=0.5 ! audioconvert ! audioresample ! audio/x-raw,'
pcmu = tone + 'rate=8000,channels=1 ! mulawenc ! rtppcmupay name=pay1 pt=0 min-ptime=20000000 max-ptime=20000000 '
pcma = tone + 'rate=8000,channels=1 ! alawenc ! rtppcmapay name=pay1 pt=8 min-ptime=20000000 max-ptime=20000000 '
opus = tone + 'rate=48000,channels=2 ! opusenc ! rtpopuspay name=pay1 pt=97 '
aac = tone + 'rate=48000,channels=1 ! avenc_aac ! aacparse ! rtpmp4gpay name=pay1 pt=97 '
latm = tone + 'rate=48000,channels=1 ! avenc_aac ! aacparse ! rtpmp4apay name=pay1 pt=97 '
g726 = tone + 'rate=8000,channels=1 ! avenc_g726 bitrate=32000 ! rtpg726pay name=pay1 pt=97 '


def profile(name, form, more=''):
    # What x264 makes of pictures in this form.
    return (source(options.width, options.height).rstrip() + f' ! videoconvert ! video/x-raw,format={form} {more}'
            f'! x264enc tune=zerolatency speed-preset=ultrafast bitrate={options.kbps} key-int-max={options.gop} {"interlaced=true " if more else ""}'
            f'! video/x-h264,profile={name} ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 mtu=1200 ')


mounts = {
    '/cam': main + pcmu, '/pcma': main + pcma, '/opus': main + opus, '/aac': main + aac, '/video': main, '/': main + pcmu,
    '/h265': h265, '/udp': main, '/small': h264(160, 90, 100), '/jpeg': jpeg,
    '/bframes': bframes,
    '/h265aac': h265 + aac, '/jpegaac': jpeg + aac, '/latm': main + latm,
    '/g726': main + g726, '/aal2g726': main + g726.replace('rtpg726pay', 'rtpg726pay force-aal2=true'),
    '/high10': profile('high-10', 'I420_10LE'), '/high422': profile('high-4:2:2', 'Y42B'), '/high444': profile('high-4:4:4', 'Y444'),
    '/interlaced': profile('high', 'I420', '! interlace field-pattern=1:1 '),
    '/stream1': main, '/stream2': h264(160, 90, 100),
    '/two': main + h264(160, 90, 100).replace('pay0', 'pay1') + pcmu.replace('pay1', 'pay2'),
}

# A picture of each half second, twenty times: it can only be sent when the next one is there.
mounts['/sync'] = (f'videotestsrc is-live=true pattern=blink ! video/x-raw,format=I420,width=160,height=90,framerate=2/1 '
                   '! videorate ! video/x-raw,framerate=20/1 ! x264enc tune=zerolatency speed-preset=ultrafast bitrate=200 key-int-max=20 bframes=0 '
                   '! video/x-h264,profile=constrained-baseline ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 mtu=1200 '
                   'audiotestsrc is-live=true wave=ticks tick-interval=1000000000 volume=0.8 samplesperbuffer=480 ! audioconvert ! audioresample '
                   '! audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay name=pay1 pt=97 ')
mounts['/syncmp2'] = mounts['/sync'].replace('opusenc ! rtpopuspay name=pay1 pt=97', 'avenc_mp2 ! mpegaudioparse ! rtpmpapay name=pay1 pt=14')
mounts['/syncmp3'] = mounts['/sync'].replace('opusenc ! rtpopuspay name=pay1 pt=97', 'lamemp3enc ! mpegaudioparse ! rtpmpapay name=pay1 pt=14')

server = GstRtspServer.RTSPServer()
server.set_address(options.host)
server.set_service(str(options.port))
permissions = None
if options.auth != 'none' or options.tls:
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string('media.factory.role', 'user')
    if options.tls:
        auth.set_tls_certificate(Gio.TlsCertificate.new_from_file(options.tls))
    if options.auth == 'none':
        auth.set_default_token(token)
    elif options.auth == 'basic':
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.BASIC)
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(options.user, options.password), token)
    else:
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        auth.add_digest(options.user, options.password, token)
    server.set_auth(auth)
    permissions = GstRtspServer.RTSPPermissions()
    for permission in ('media.factory.access', 'media.factory.construct'):
        permissions.add_permission_for_role('user', permission, True)

for path, pipeline in mounts.items():
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f'( {pipeline})')
    factory.set_shared(True)
    factory.set_latency(0)
    if path == '/udp':
        factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
    if permissions:
        factory.set_permissions(permissions)
    server.get_mount_points().add_factory(path, factory)

server.connect('client-connected', lambda _server, client: client.connect(
    'new-session', lambda _client, session: session.set_timeout(options.timeout)))
server.attach(None)
GLib.timeout_add_seconds(1, lambda: (server.get_session_pool().cleanup(), True)[1])
parent = os.getppid()
loop = GLib.MainLoop()
# Nobody is left who would end it.
GLib.timeout_add_seconds(1, lambda: os.getppid() == parent or loop.quit())
print('ready', server.get_bound_port(), flush=True)
loop.run()
