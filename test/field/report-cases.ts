import type { FieldCase, FieldSound } from '../support/field/field-case.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import { emptyPadding, type Packer, usualPacker } from '../support/field/packing.ts'

/** A frame of AAC-LC at 16 kHz in mono that is silent: what ffmpeg writes for silence. */
const silentFrame = Buffer.from('01182007', 'hex')
const ofAac = { payloadType: 97, everyMs: 64, ticks: 1_024, recordedAs: 'aac' } as const

/** A packet as an earlier session sends it: of another source, with its own numbers and timestamps. */
function ofEarlierSession(packet: Buffer): Buffer {
  const other = Buffer.from(packet)
  other.writeUInt16BE((packet.readUInt16BE(2) + 31_000) & 0xffff, 2)
  other.writeUInt32BE((packet.readUInt32BE(4) + 900_000_000) >>> 0, 4)
  other.writeUInt32BE(0x40b2a2e8, 8)
  return other
}

/** A packet that a camera sends while it is turned: all have one number. */
const ofMotor = Buffer.concat([Buffer.from([0x80, 50, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9]), Buffer.alloc(32, 1)])

const g711: FieldSound = {
  section: ['m=audio 0 RTP/AVP 0', 'a=control:track2'],
  ...{ payloadType: 0, everyMs: 20, ticks: 160, recordedAs: 'flac' },
  payload: () => Buffer.alloc(160, 0x90),
}

/** A packet of a type that is not described, with the source, number and timestamp of the packet that follows. */
function messageBefore(packet: Buffer): Buffer {
  const message = Buffer.concat([packet.subarray(0, 12), Buffer.alloc(45, 1)])
  message[1] = 0x80 | 50
  return message
}

/** Parameter sets of H.264, the sequence parameter set with two bytes behind its stop bit. */
const withTrailingBytes = (sets: readonly Buffer[]): Buffer[] =>
  sets.map((set) => (((set[0] ?? 0) & 0x1f) === 7 ? Buffer.concat([set, Buffer.from([4, 4])]) : set))

/** Message of 16 bytes of user data (ITU-T H.265, section D.2.7). */
const prefixMessage = Buffer.concat([Buffer.from([39 << 1, 1, 5, 16]), Buffer.alloc(16, 0x55), Buffer.from([0x80])])

/** Two messages, each marked, behind each key picture. */
const messagesBehind: Packer = (picture, film, index) => [
  ...usualPacker(picture, film, index),
  ...(picture.key ? [prefixMessage, prefixMessage] : []).map((payload) => ({ payload, marker: true })),
]

/** Cameras and encoders as single reports describe them. */
export const reportCases: FieldCase[] = [
  ...(
    [
      [-9_800, 'https://github.com/bluenviron/mediamtx/pull/6255'],
      [37_600, 'https://github.com/bluenviron/mediamtx/pull/6255'],
      [-3, 'https://github.com/gtxaspec/raptor/issues/43'],
    ] as const
  ).map(
    ([seconds, source]): FieldCase => ({
      quirk: `a picture now and then is stamped ${seconds} s away`,
      source,
      sound: g711,
      timestamp: (at) => (2_000_000_000 + at * 3_600 + (at % 20 === 13 ? seconds * 90_000 : 0)) >>> 0,
    }),
  ),
  {
    quirk: 'packets of an earlier session come beside those of this one',
    source: 'https://github.com/scottlamb/retina/issues/17',
    packets: (packets) => packets.flatMap((packet) => [ofEarlierSession(packet), packet]),
    expected: { learns: 1 },
  },
  {
    quirk: 'messages of another payload type and source come among the packets of the picture',
    source: 'https://github.com/BogdanovKirill/RtspClientSharp/issues/98',
    packets: (packets, picture) => (picture % 5 === 2 ? [ofMotor, ...packets, ofMotor] : packets),
  },
  {
    quirk: 'the port of the section is negative, and its connection is no text',
    source: 'https://github.com/AlexxIT/go2rtc/issues/2316',
    description: (film) =>
      lines(sessionLines, pictureSection(film), "c=IN IP4 '&\u0001\u00ef\u00bf").replace(
        'm=video 0',
        'm=video -1353744643',
      ),
  },
  {
    quirk: 'headers of AAC have a size and no index',
    source: 'https://github.com/bluenviron/gortsplib/pull/118',
    sound: {
      ...ofAac,
      section: [
        'm=audio 0 RTP/AVP 97',
        'a=rtpmap:97 mpeg4-generic/16000/1',
        'a=fmtp: 97 streamtype=3;profile-level-id=14;mode=AAC-hbr;config=1408;sizeLength=13',
        'a=control:track2',
      ],
      payload: () => Buffer.concat([Buffer.from([0, 13, 0, silentFrame.length << 3]), silentFrame]),
    },
  },
  {
    quirk: 'the configuration of AAC in LATM is empty, and of another payload type',
    source: 'https://github.com/bluenviron/mediamtx/issues/3590',
    sound: {
      ...ofAac,
      section: [
        'm=audio 0 RTP/AVP 97',
        'a=control:track2',
        'a=rtpmap:97 MP4A-LATM/16000/1',
        'a=fmtp:40 profile-level-id=1709392648;cpresent=0;config=',
        'a=sendonly',
      ],
      payload: () => Buffer.concat([Buffer.from([silentFrame.length]), silentFrame]),
    },
  },
  {
    quirk: 'Content-Base has a scheme twice',
    source: 'https://github.com/AlexxIT/go2rtc: rtsp://rtsp://turret2-cam.lan:554/stream1/',
    script: {
      DESCRIBE: (caller, request) =>
        caller.answer(request, {
          headers: { 'Content-Base': `rtsp://rtsp://127.0.0.1:${caller.socket.localPort ?? 0}/base/` },
        }),
      SETUP: (caller, request) =>
        request.url.endsWith('/base/track1') ? caller.setUp(request) : caller.answer(request, { status: 404 }),
    },
  },
  {
    quirk: 'a keep-alive is refused with the number of the request before it',
    source: 'https://github.com/scottlamb/retina/issues/136',
    playsMs: 5_000,
    script: {
      SETUP: (caller, request) => caller.setUp(request, { headers: { Session: '5;timeout=2' } }),
      GET_PARAMETER: (caller, request) =>
        caller.answer(request, {
          status: 400,
          headers: { CSeq: String(Number(request.headers.get('cseq') ?? 0) - 1) },
        }),
    },
  },
  ...(
    [
      ['H264', 'packetization-mode=2', 'https://github.com/bluenviron/gortsplib/issues/325'],
      ['H265', 'sprop-max-don-diff=2', 'https://github.com/pion/rtp/pull/134'],
    ] as const
  ).map(
    ([codec, format, source]): FieldCase => ({
      quirk: `${codec} is sent in another order than it is decoded`,
      source,
      description: () =>
        lines(
          sessionLines,
          'm=video 0 RTP/AVP 96',
          `a=rtpmap:96 ${codec}/90000`,
          `a=fmtp:96 ${format}`,
          'a=control:track1',
        ),
      expected: { refused: ['noUsableTrack'] },
    }),
  ),
  {
    quirk: 'packets are marked as padded, and have no padding',
    source: 'https://github.com/pion/rtp/pull/274',
    packing: emptyPadding,
  },
  {
    quirk: 'sequence parameter sets have bytes behind their end',
    source: 'https://github.com/scottlamb/retina/issues/104',
    packing: (picture, film, index) => usualPacker(picture, { ...film, sets: withTrailingBytes(film.sets) }, index),
    description: (film) => lines(sessionLines, pictureSection({ ...film, sets: withTrailingBytes(film.sets) })),
  },
  {
    quirk: 'messages of H.265 come behind the picture, each with a marker',
    source: 'https://github.com/bluenviron/mediamtx/issues/6257',
    film: 'h265',
    packing: messagesBehind,
    expected: { converted: true },
  },
  {
    quirk: 'pictures of H.265 lie in temporal layers',
    source: 'https://github.com/bluenviron/mediamtx/issues/6031',
    film: 'temporalLayers',
    expected: { converted: true },
  },
  {
    quirk: 'a message has the number of the packet behind it',
    source: 'https://github.com/AlexxIT/go2rtc/issues/1722',
    packets: (packets) => packets.flatMap((packet) => [messageBefore(packet), packet]),
  },
  {
    quirk: 'the size changes in the stream',
    source: 'https://github.com/ossrs/srs/issues/3073',
    film: 'twoSizes',
  },
  {
    quirk: 'only multicast is granted',
    source: 'https://github.com/AlexxIT/go2rtc/issues/1265',
    script: { SETUP: (caller, request) => caller.answer(request, { status: 461 }) },
    expected: { refused: ['noTransport', 'SETUP'] },
  },
  {
    quirk: 'media is encrypted inside of the session',
    source: 'https://github.com/AlexxIT/go2rtc/issues/81',
    description: (film) =>
      lines(
        sessionLines,
        pictureSection(film),
        'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj|2^20',
      ).replace('RTP/AVP', 'RTP/SAVP'),
    expected: { refused: ['srtp'] },
  },
]
