import type { FieldCase, FieldSound } from '../support/field/field-case.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'

/** A frame of AAC-LC at 16 kHz in mono that is silent: what ffmpeg writes for silence. */
const silentFrame = Buffer.from('01182007', 'hex')

/** A silent frame of MPEG-1 layer II at 48 kHz in mono, with 32 kbit/s: no subband has bits. */
const silentMp2 = Buffer.concat([Buffer.from([0xff, 0xfd, 0x14, 0xc4]), Buffer.alloc(92)])

/** A silent frame of MPEG-1 layer III at 48 kHz in mono, with 32 kbit/s: its side information is empty. */
const silentMp3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x14, 0xc4]), Buffer.alloc(92)])

/** RFC 3640, section 3.2, of one unit. */
function accessUnit(unit: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(16, 0)
  head.writeUInt16BE(unit.length << 3, 2)
  return Buffer.concat([head, unit])
}

/** Head of ADTS for AAC-LC at 16 kHz in mono (ISO/IEC 13818-7, section 6.2). */
function adts(unit: Buffer): Buffer {
  const length = unit.length + 7
  const head = Buffer.from([
    0xff,
    0xf1,
    0x60,
    0x40 | (length >> 11),
    (length >> 3) & 0xff,
    ((length & 7) << 5) | 0x1f,
    0xfc,
  ])
  return Buffer.concat([head, unit])
}

const aac = (format: string, payload: () => Buffer): FieldSound => ({
  section: [
    'm=audio 0 RTP/AVP 97',
    'a=rtpmap:97 MPEG4-GENERIC/16000/1',
    ...(format === '' ? [] : [`a=fmtp:97 ${format}`]),
    'a=control:track2',
  ],
  ...{ payloadType: 97, everyMs: 64, ticks: 1_024, recordedAs: 'aac' },
  payload,
})

const mode = 'streamtype=5;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3'
const g711 = (how: Partial<FieldSound> = {}): FieldSound => ({
  section: ['m=audio 0 RTP/AVP 0', 'a=control:track2'],
  ...{ payloadType: 0, everyMs: 20, ticks: 160, recordedAs: 'flac' },
  payload: (index) => Buffer.from(Array.from({ length: 160 }, (_, n) => 0x80 + ((n * 5 + index) % 60))),
  ...how,
})

const forms: readonly FieldCase[] = [
  { quirk: 'G.711', source: 'most cameras', sound: g711() },
  { quirk: 'AAC', source: 'most cameras', sound: aac(`${mode};config=1408`, () => accessUnit(silentFrame)) },
  {
    quirk: 'AAC with heads of ADTS in its units',
    source: 'report at go2rtc: ADTS in MPEG4-GENERIC',
    sound: aac(`${mode};config=1408`, () => accessUnit(adts(silentFrame))),
  },
  {
    quirk: 'AAC without its configuration',
    source: 'report at MediaMTX: config is missing',
    sound: aac(mode, () => accessUnit(silentFrame)),
  },
  {
    quirk: 'the clock of G.711 is twice too fast',
    source: 'report at Frigate: 320 ticks for 160 samples',
    sound: g711({ ticks: 320, recordedAs: '' }),
    expected: { learns: 4 },
  },
  {
    quirk: 'the clock of G.711 stands still',
    source: 'dashboard cameras',
    sound: g711({ ticks: 0, recordedAs: '' }),
    expected: { learns: 4 },
  },
  ...(
    [
      ['L16 by its static type, in stereo', 'm=audio 0 RTP/AVP 10', 10, 882, 3_528],
      ['L16 by its static type, in mono', 'm=audio 0 RTP/AVP 11', 11, 882, 1_764],
      ['L16 at 16 kHz', ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 L16/16000'], 97, 320, 640],
      ['G.711 A-law at 16 kHz', ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 PCMA/16000/1'], 97, 320, 320],
      ['G.711 μ-law at 32 kHz in stereo', ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 PCMU/32000/2'], 97, 640, 1_280],
      ['G.722', 'm=audio 0 RTP/AVP 9', 9, 160, 160],
      ['G.722 with the clock of its samples', ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 G722/16000'], 97, 320, 160],
      ['G.726', ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 G726-32/8000'], 97, 160, 80],
      ['G.711 named ALAW', ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 G711A/8000'], 97, 160, 160],
    ] as const
  ).map(
    ([quirk, section, payloadType, ticks, bytes]): FieldCase => ({
      quirk,
      source: 'report at Frigate: sound is missing in recordings',
      sound: {
        section: [...(typeof section === 'string' ? [section] : section), 'a=control:track2'],
        ...{ payloadType, everyMs: 20, ticks, recordedAs: 'flac' },
        payload: (index) => Buffer.from(Array.from({ length: bytes }, (_, n) => 0x80 + ((n * 5 + index) % 60))),
      },
    }),
  ),
  {
    quirk: 'MP2, which no file holds that browsers play',
    source: 'report at Frigate: MPA is heard and not recorded',
    sound: {
      section: ['m=audio 0 RTP/AVP 14', 'a=control:track2'],
      ...{ payloadType: 14, everyMs: 24, ticks: 2_160, recordedAs: 'opus', converted: true },
      payload: () => Buffer.concat([Buffer.alloc(4), silentMp2]),
    },
  },
  {
    quirk: 'MP3',
    source: 'encoders of radio stations',
    sound: {
      section: ['m=audio 0 RTP/AVP 98', 'a=rtpmap:98 MPA/90000', 'a=control:track2'],
      ...{ payloadType: 98, everyMs: 24, ticks: 2_160, recordedAs: 'opus', converted: true },
      payload: () => Buffer.concat([Buffer.alloc(4), silentMp3]),
    },
  },
  {
    quirk: 'packets of G.711 have odd lengths',
    source: 'intercoms that send what their driver has',
    sound: g711({ payload: (index) => Buffer.alloc(index % 2 === 0 ? 143 : 177, 0x90) }),
  },
  {
    quirk: 'packets of G.711 hold one sample too many now and then',
    source: 'cameras that convert the rate',
    sound: g711({ payload: (index) => Buffer.alloc(index % 10 === 0 ? 161 : 160, 0x90) }),
  },
  {
    quirk: 'AAC with a configuration in upper case, in quotes',
    source: 'hand-written descriptions',
    sound: aac(`${mode};config="1408"`, () => accessUnit(silentFrame)),
  },
  {
    quirk: 'AAC with the names of its parameters in other letters',
    source: 'cameras that follow the examples of RFC 3640',
    sound: aac('StreamType=5; Mode=AAC-hbr; Config=1408; SizeLength=13; IndexLength=3; IndexDeltaLength=3', () =>
      accessUnit(silentFrame),
    ),
  },
  {
    quirk: 'AAC of 90 kHz timestamps',
    source: 'encoders that stamp everything as pictures',
    sound: {
      ...aac(`${mode};config=1408`, () => accessUnit(silentFrame)),
      section: [
        'm=audio 0 RTP/AVP 97',
        'a=rtpmap:97 MPEG4-GENERIC/90000/1',
        `a=fmtp:97 ${mode};config=1408`,
        'a=control:track2',
      ],
      ticks: 5_760,
    },
  },
  {
    quirk: 'AAC whose format stands in the section of the picture',
    source: 'report at go2rtc: fmtp in another section',
    description: (film) =>
      lines(
        sessionLines,
        pictureSection(film),
        `a=fmtp:97 ${mode};config=1408`,
        'm=audio 0 RTP/AVP 97',
        'a=rtpmap:97 MPEG4-GENERIC/16000/1',
        'a=control:track2',
      ),
    sound: aac('', () => accessUnit(silentFrame)),
  },
  {
    quirk: 'bare frames of AAC under the name AAC',
    source: 'encoders with names of their own',
    sound: {
      ...aac('', () => adts(silentFrame)),
      section: ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 AAC/16000', 'a=control:track2'],
    },
  },
  {
    quirk: 'the second of several formats is sent',
    source: 'recorders that offer what they know',
    sound: {
      ...g711({ payloadType: 8 }),
      section: ['m=audio 0 RTP/AVP 97 8 0', 'a=rtpmap:97 MPEG4-GENERIC/16000/1', 'a=control:track2'],
    },
  },
  {
    quirk: 'packets of G.711 are of 40 ms',
    source: 'intercoms',
    sound: g711({
      everyMs: 40,
      ticks: 320,
      payload: () => Buffer.alloc(320, 0x90),
    }),
  },
]

/** Sound of cameras, also as it should not be. */
export const soundCases: FieldCase[] = forms.map((each) => ({ ...each, quirk: `sound: ${each.quirk}` }))
