import fc from 'fast-check'
import { expect, test } from 'vitest'
import { carriageOf, tracksToPull } from '../../../../server/media/rtsp/carriage.ts'
import { parseDescription } from '../../../../server/media/rtsp/description.ts'
import { describedResolution, h264Resolution, h265Resolution } from '../../../../server/media/rtsp/resolution.ts'
import { controlUrl } from '../../../../server/media/rtsp/control-url.ts'
import { parseSession, parseTransport } from '../../../../server/media/rtsp/transport.ts'

const camera = `v=0
o=- 1 1 IN IP4 0.0.0.0
s=Media Presentation
a=control:rtsp://10.0.0.9/h264/
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
a=fmtp:96 profile-level-id=420029; packetization-mode=1; sprop-parameter-sets=Z0LAKNoB4AiflwFqAgICgAAAAwCAAAAPR4wZUA==,aM48gA==
a=control:rtsp://10.0.0.9/h264/trackID=1
m=audio 0 RTP/AVP 8
a=control:2
m=application 0 RTP/AVP 107
a=control:3
`

test('tracks of a camera are read: codec, clock, parameters, control, static payload types', () => {
  const { control, tracks } = parseDescription(camera)
  expect(control).toBe('rtsp://10.0.0.9/h264/')
  expect(tracks).toMatchObject([
    { kind: 'video', codec: 'H264', clockRate: 90000, payloadType: 96, control: 'rtsp://10.0.0.9/h264/trackID=1' },
    { kind: 'audio', codec: 'PCMA', clockRate: 8000, payloadType: 8, control: '2' },
  ])
  expect(tracks[0]?.parameters.get('packetization-mode')).toBe('1')
  expect(tracks[0] && describedResolution(tracks[0])).toEqual({ width: 1920, height: 1080 })
})

test('what can be carried is pulled, and the rest says what to set', () => {
  const { tracks } = parseDescription(`v=0
m=video 0 RTP/AVP 26
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
m=audio 0 RTP/AVP 97
a=rtpmap:97 mpeg4-generic/48000/2
m=audio 0 RTP/AVP 98
a=rtpmap:98 opus/48000/2
`)
  expect(tracksToPull(tracks).map(({ codec }) => codec)).toEqual(['H264', 'OPUS'])
  expect(tracks.map((track) => carriageOf(track).carried)).toEqual([false, true, false, true])
  expect(tracks[2] && carriageOf(tracks[2]).detail).toContain('AAC')
})

test('no description, parameter set or header field makes a parser throw', () => {
  const line = fc.oneof(
    fc.string(),
    fc
      .tuple(
        fc.constantFrom('m=video', 'm=audio', 'a=rtpmap:96', 'a=fmtp:96', 'a=control:', 'm=video 0 RTP/AVP 96'),
        fc.string(),
      )
      .map((parts) => parts.join(' ')),
  )
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      for (const track of parseDescription(lines.join('\r\n')).tracks) {
        carriageOf(track)
        describedResolution(track)
      }
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      h264Resolution(Uint8Array.of(0x67, ...bytes))
      h265Resolution(Uint8Array.of(0x42, 1, ...bytes))
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      parseTransport(text)
      parseSession(text)
      controlUrl('rtsp://cam/', text)
    }),
  )
})

test('control attributes are joined as cameras do it', () => {
  expect(controlUrl('rtsp://cam/live', 'track1')).toBe('rtsp://cam/live/track1')
  expect(controlUrl('rtsp://cam/live/', 'track1')).toBe('rtsp://cam/live/track1')
  expect(controlUrl('rtsp://cam/live?x=1', '*')).toBe('rtsp://cam/live?x=1')
  expect(controlUrl('rtsp://cam/live', 'rtsp://u:p@other/track1')).toBe('rtsp://other/track1')
  expect(controlUrl('rtsp://cam/live', 'rtsp://:99999/track1')).toBe('rtsp://cam/live')
  expect(controlUrl('rtsp://cam/live', 'a b\r\nX: y')).not.toMatch(/[\r\n ]/)
})

test('the answer to SETUP: channels, ports, session and its timeout', () => {
  expect(parseTransport('RTP/AVP/TCP;unicast;interleaved=2-3;ssrc=1')).toMatchObject({ channels: [2, 3] })
  expect(parseTransport('RTP/AVP;unicast;client_port=5-6;server_port=7000-7001;source=10.0.0.9')).toMatchObject({
    serverPorts: [7000, 7001],
    source: '10.0.0.9',
  })
  expect(parseSession('abc;timeout=10')).toEqual({ id: 'abc', timeoutMs: 10_000 })
  expect(parseSession('abc')).toEqual({ id: 'abc', timeoutMs: 60_000 })
})
