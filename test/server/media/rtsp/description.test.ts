import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codecSupportOf, tracksToPull } from '../../../../server/media/rtsp/codec-support.ts'
import { parseDescription } from '../../../../server/media/rtsp/description.ts'
import { describedResolution, h264Parameters, h265Parameters } from '../../../../server/media/rtsp/resolution.ts'
import { baseUrls, controlUrls } from '../../../../server/media/rtsp/leniency.ts'
import { noUsableTrack } from '../../../../server/media/rtsp/session.ts'
import { parseSession, parseTransport } from '../../../../server/media/rtsp/message-head.ts'

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

test('supported tracks are pulled, and the others name the setting to change', () => {
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
  expect(tracks.map((track) => codecSupportOf(track).carried)).toEqual([false, true, false, true])
  expect(tracks[2] && codecSupportOf(tracks[2]).detail).toContain('AAC')
})

/** Expects a parser to succeed or to refuse the input, without any other error. */
function orRefused(run: () => void): void {
  try {
    run()
  } catch (error) {
    expect(error).toMatchObject({ name: 'RtspError', kind: 'protocol' })
  }
}

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
        codecSupportOf(track)
        describedResolution(track)
      }
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      h264Parameters(Uint8Array.of(0x67, ...bytes))
      h265Parameters(Uint8Array.of(0x42, 1, ...bytes))
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      orRefused(() => parseTransport(text))
      orRefused(() => parseSession(text))
      controlUrls(['rtsp://cam/'], text)
      baseUrls('rtsp://cam/', text)
    }),
  )
})

test.each([
  // Written by x264 and x265 in their profiles.
  ['H.264 baseline', '6742c00cd901419f9f0110000003001000000301e0f142a480', 0],
  ['H.264 main without B-frames', '674d400cd901419f9f0110000003001000000301e0f142a480', 0],
  ['H.264 main with B-frames', '674d400ceca0a0cfcf8088000003000800000300f078a14cb0', 2],
  ['H.264 high with B-frames', '6764000cacd941419f9f0110000003001000000301e0f1429960', 2],
  ['H.265 with B-frames', '42010101600000030090000003000003003ca00a080b9f796564924caf0168080000030008000003007840', 2],
  ['H.265 without', '42010101600000030090000003000003003ca00a080b9f7964a924caf0168080000003008000000784', 0],
])('%s says how many pictures come in another order', (_what, sps, reordered) => {
  const nal = Buffer.from(sps, 'hex')
  const parameters = sps.startsWith('67') ? h264Parameters(nal) : h265Parameters(nal)
  expect(parameters).toMatchObject({ width: 320, height: 180, chroma: 1, bitDepth: 8, interlaced: false, reordered })
  // Truncated after the size, it still has the size.
  if (sps.startsWith('674d400ceca0'))
    expect(h264Parameters(nal.subarray(0, 12))).toMatchObject({ reordered: undefined })
})

test('control attributes and bases are read in each form that cameras write, the usual one first', () => {
  const first = (base: string, control: string): string | undefined => controlUrls([base], control)[0]
  expect(first('rtsp://cam/live', 'track1')).toBe('rtsp://cam/live/track1')
  expect(first('rtsp://cam/live/', 'track1')).toBe('rtsp://cam/live/track1')
  expect(first('rtsp://cam/live?x=1', '*')).toBe('rtsp://cam/live?x=1')
  expect(first('rtsp://cam/live', 'rtsp://u:p@other/track1')).toBe('rtsp://other/track1')
  expect(first('rtsp://cam/live', 'rtsp://:99999/track1')).toBe('rtsp://cam/track1')
  expect(first('rtsp://cam/live', 'a b\r\nX: y')).not.toMatch(/[\r\n ]/)
  expect(controlUrls(['rtsp://cam/live'], '/track1')).toEqual(['rtsp://cam/live/track1', 'rtsp://cam/track1'])
  expect(controlUrls(['rtsp://cam/live?x=1'], 'track1')).toEqual([
    'rtsp://cam/live?x=1/track1',
    'rtsp://cam/live/track1?x=1',
    'rtsp://cam/track1',
  ])
  expect(controlUrls(['rtsp://cam/live'], 'rtsp://10.0.0.9:554/live/track1')).toEqual([
    'rtsp://10.0.0.9:554/live/track1',
    'rtsp://cam/live/track1',
  ])
  const url = 'rtsp://cam:8554/live'
  expect(baseUrls(url, 'rtsp://10.0.0.9/x/')).toEqual(['rtsp://10.0.0.9/x/', 'rtsp://cam:8554/x/'])
  expect(baseUrls(url, ' /x/ ')).toEqual(['rtsp://cam:8554/x/'])
  expect(baseUrls(url, '10.0.0.9:554/x/')).toEqual(['rtsp://10.0.0.9:554/x/'])
  expect(baseUrls(url, '//10.0.0.9/x/')).toEqual(['rtsp://10.0.0.9/x/'])
  expect(baseUrls(url, 'rtsp://:99999/x')).toEqual(['rtsp://cam:8554/x'])
  for (const none of ['', '*', 'track']) expect(baseUrls(url, none)).toEqual([])
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

test('out-of-range values of a camera are ignored', () => {
  for (const channels of ['0-256', '300-301', '-1-0', '255', 'a-b', '']) {
    expect(parseTransport(`RTP/AVP/TCP;interleaved=${channels}`).channels, channels).toBeUndefined()
  }
  for (const ports of ['5000-0', '0-0', '0-1', '65535', '70000-70001', '99999', '-1', '5000-70000', '1e3-2e3', '']) {
    expect(parseTransport(`RTP/AVP;unicast;server_port=${ports}`).serverPorts, ports).toBeUndefined()
  }
  expect(parseTransport('RTP/AVP;server_port=1-65535').serverPorts).toEqual([1, 65_535])
  expect(parseTransport('RTP/AVP;source=nas.example').source).toBeUndefined()
  expect(parseTransport('RTP/AVP;source=:::::').source).toBeUndefined()
  for (const timeout of ['0', '-1', '1e99', '99999999', '', 'x', '86401']) {
    expect(parseSession(`abc;timeout=${timeout}`)).toEqual({ id: 'abc', timeoutMs: 60_000 })
  }
  for (const id of ['a\u0007', 'ä', 'a'.repeat(257), 'a'.repeat(100_000)]) {
    expect(() => parseSession(`${id};timeout=60`), id.slice(0, 9)).toThrow('session')
  }
})

test('pictures have a clock of 90 kHz, and another declared clock is kept beside it', () => {
  const clocks = (map: string) => parseDescription(`v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 ${map}`).tracks[0]
  expect(clocks('H265/1000')).toMatchObject({ clockRate: 90_000, declaredClock: 1_000 })
  expect(clocks('H264/90000')).not.toHaveProperty('declaredClock')
  const sound = parseDescription('v=0\r\nm=audio 0 RTP/AVP 97\r\na=rtpmap:97 PCMA/16000').tracks[0]
  expect(sound).toMatchObject({ clockRate: 16_000 })
  expect(sound).not.toHaveProperty('declaredClock')
})

test('numbers of a description stay in range, and values that are too long are dropped', () => {
  const describe = (lines: string[]) => parseDescription(['v=0', ...lines].join('\r\n')).tracks
  expect(describe(['m=video 0 RTP/AVP 128', 'm=video 0 RTP/AVP -1', 'm=audio 0 RTP/AVP x'])).toEqual([])
  expect(describe(['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/99999999999'])).toMatchObject([{ clockRate: 0 }])
  expect(describe(['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 OPUS/48000/99'])).toMatchObject([{ channels: 0 }])
  expect(describe(['m=video 0 RTP/AVP 96', `a=control:${'x'.repeat(1_025)}`])).toEqual([])
  const many = Array.from({ length: 1_000 }, () => ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000']).flat()
  expect(describe(many).length).toBeLessThanOrEqual(16)
})

test('parameters of an unknown payload type belong to the only format of their section', () => {
  const described = (format: string, ...other: string[]) => {
    const lines = [
      'm=audio 0 RTP/AVP 104',
      'a=rtpmap:104 MPEG4-GENERIC/16000',
      `a=fmtp:${format} config=1408`,
      ...other,
    ]
    return parseDescription(lines.join('\r\n')).tracks[0]?.parameters.get('config')
  }
  expect(described('97')).toBe('1408')
  expect(described('97', 'm=audio 0 RTP/AVP 97', 'a=rtpmap:97 MPEG4-GENERIC/8000')).toBeUndefined()
  expect(described('97', 'm=video 0 RTP/AVP 96', 'a=fmtp:104 config=1588')).toBe('1588')
})

test('a section with an SRTP key is not pulled; one that only names the protocol is', () => {
  const describe = (protocol: string, ...lines: string[]) =>
    parseDescription([`m=video 0 ${protocol} 96`, 'a=rtpmap:96 H264/90000', ...lines].join('\r\n')).tracks
  const key = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj'
  for (const line of [key, 'a=key-mgmt:mikey AQAFAP1td4ABAAD+AbaFAAAAAAoAAd'])
    expect(tracksToPull(describe('RTP/SAVP', line))).toEqual([])
  expect(tracksToPull(describe('RTP/AVP', key))).toHaveLength(1)
  expect(tracksToPull(describe('RTP/SAVPF'))).toHaveLength(1)
})

test('an unsupported track of a camera is reported with the reason why browsers cannot play it', () => {
  const said = (codec: string, format: string) =>
    noUsableTrack(
      parseDescription(['m=video 0 RTP/AVP 96', `a=rtpmap:96 ${codec}/90000`, `a=fmtp:96 ${format}`].join('\r\n'))
        .tracks,
    ).detail
  expect(said('H264', 'packetization-mode=2')).toBe('H.264 in interleaved mode')
  expect(said('H265', 'sprop-max-don-diff=2')).toBe('H.265 in interleaved mode')
  expect(said('MP2T', '')).toBe('an MPEG transport stream')
})
