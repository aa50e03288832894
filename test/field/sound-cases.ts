import type { FieldCase, FieldSound } from '../support/field/field-case.ts'

/** A frame of AAC-LC at 16 kHz in mono that is silent: what ffmpeg writes for silence. */
const silentFrame = Buffer.from('01182007', 'hex')

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

/** Sound of cameras as it should not be. */
export const soundCases: FieldCase[] = [
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
  {
    quirk: 'packets of G.711 are of 40 ms',
    source: 'intercoms',
    sound: g711({
      everyMs: 40,
      ticks: 320,
      payload: () => Buffer.alloc(320, 0x90),
    }),
  },
].map((each): FieldCase => ({ ...each, quirk: `sound: ${each.quirk}` }))
