import type { FieldCase, FieldSound } from '../support/field/field-case.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'

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
