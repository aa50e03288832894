import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { soundAssembly } from '../../../../server/media/record/sound-assembly.ts'
import { codecSupportOf, shortcomingsOf, tracksToPull } from '../../../../server/media/rtsp/codec-support.ts'
import { parseDescription, type RtspTrack } from '../../../../server/media/rtsp/description.ts'
import type { SourceFrame } from '../../../../server/media/transcode/frame-assembly.ts'
import { FlvReader, IvfReader } from '../../../../server/media/transcode/encoded-pictures.ts'
import {
  matroskaFrame,
  matroskaHeader,
  MatroskaReader,
  ticksPerMs,
} from '../../../../server/media/transcode/matroska.ts'
import { PacketSequence } from '../../../../server/media/rtp/packet-sequence.ts'
import { maxSignificantFirst } from '../../../../server/media/transcode/sound-frames.ts'
import { sourceTrack } from '../../../../server/media/transcode/source-track.ts'
import {
  type Abilities,
  noAbilities,
  type SlotHolder,
  TranscoderSlots,
} from '../../../../server/media/transcode/transcoding.ts'
import { SourceClock } from '../../../../server/media/transcode/converted-input.ts'

/** Makes the track of one media section. */
function track(kind: 'video' | 'audio', encoding: string, parameters = ''): RtspTrack {
  const lines = ['v=0', `m=${kind} 0 RTP/AVP 96`, `a=rtpmap:96 ${encoding}`, `a=fmtp:96 ${parameters}`, 'a=control:t']
  const [found] = parseDescription(lines.join('\r\n')).tracks
  if (found === undefined) throw new Error('no track')
  return found
}

function rtp(sequence: number, timestamp: number, payload: readonly number[], marker = true): Buffer {
  const packet = Buffer.alloc(12 + payload.length)
  packet.set([0x80, marker ? 0xe0 : 0x60])
  packet.writeUInt16BE(sequence & 0xffff, 2)
  packet.writeUInt32BE(timestamp >>> 0, 4)
  packet.set(payload, 12)
  return packet
}

const h264 = (sets: string) =>
  track('video', 'H264/90000', `packetization-mode=1;sprop-parameter-sets=${sets},aM48gA==`)
const all = { pictures: true, sound: true }
const aacParameters = 'mode=AAC-hbr;config=1188;sizelength=13;indexlength=3;indexdeltalength=3'

describe('a track that browsers cannot play', () => {
  test.each([
    ['High 10', h264('Z24ADKbLQKDPz4C1BgYGpQAAAwABAAADAB6PFCqg'), 'bit_depth'],
    ['4:2:2', h264('Z3oADLy0Cgz8bgLUGBgZAAADAAEAAAMAHo8UKqA='), 'chroma'],
    ['interlaced', h264('Z01AFfQKGfkwFqDAwNSgAAADAEAAAAMD0+KFVA=='), 'interlaced'],
    ['H.265', track('video', 'H265/90000'), 'h265'],
    ['Motion JPEG', track('video', 'JPEG/90000'), 'jpeg'],
    ['MPEG-4 Visual', track('video', 'MP4V-ES/90000'), 'mpeg4'],
    ['H.263+', track('video', 'H263-1998/90000'), 'h263'],
    ['AAC', track('audio', 'mpeg4-generic/48000/1', aacParameters), 'aac'],
    ['AAC in LATM', track('audio', 'MP4A-LATM/48000', 'cpresent=0;config=40002310adca00'), 'aac'],
    ['G.726', track('audio', 'G726-32/8000'), 'g726'],
    ['wide G.711', track('audio', 'PCMU/16000'), 'rate'],
    ['linear sound', track('audio', 'L16/44100/2'), 'l16'],
  ] as const)('%s: has a reason, goes through ffmpeg if installed, and is dropped without it', (_what, one, reason) => {
    expect(codecSupportOf(one, all)).toMatchObject({ carried: true, way: 'converted', reason })
    expect(codecSupportOf(one)).toMatchObject({
      way: 'needs_ffmpeg',
      reason,
      detail: expect.stringContaining('ffmpeg'),
    })
  })

  test.each([
    ['interleaved', track('video', 'H264/90000', 'packetization-mode=2'), 'interleaved'],
    ['VP9', track('video', 'VP9/90000'), 'vp9'],
    ['H.263 of 1996', track('video', 'H263/90000'), 'h263'],
    ['AAC of an unknown rate without its configuration', track('audio', 'mpeg4-generic/47000/1'), 'aac'],
    ['Speex', track('audio', 'speex/16000'), 'speex'],
  ] as const)('%s: nothing can be made of it', (_what, one, reason) => {
    expect(codecSupportOf(one, all)).toMatchObject({ carried: false, way: 'none', reason })
  })

  test('in AAC without its configuration is assumed to be AAC-LC', () => {
    const described = sourceTrack(track('audio', 'mpeg4-generic/48000/2'))
    // AAC-LC, 48 kHz, two channels (ISO/IEC 14496-3, section 1.6.2.1).
    expect(described?.matroska.codecPrivate).toEqual(Buffer.from('1190', 'hex'))
  })

  test('is a limitation of its camera, unless it is transcoded or the camera has another that browsers play', () => {
    const sound = track('audio', 'mpeg4-generic/48000/1', aacParameters)
    const [large, small] = [track('video', 'H265/90000'), h264('Z0LAKNoB4AiflwFqAgICgAAAAwCAAAAPR4wZUA==')]
    const none = { pictures: false, sound: false }
    expect(shortcomingsOf([large, sound], [large], none)).toEqual([
      { kind: 'video', way: 'needs_ffmpeg', reason: 'h265', detail: 'H.265', recorded: true },
      { kind: 'audio', way: 'needs_ffmpeg', reason: 'aac', detail: 'AAC', recorded: false },
    ])
    expect(shortcomingsOf([large, sound], [large, sound], all)).toEqual([])
    expect(shortcomingsOf([large, small], [small], none)).toEqual([])
    expect(shortcomingsOf([small, sound], [small, sound], none)).toEqual([
      { kind: 'audio', way: 'needs_ffmpeg', reason: 'aac', detail: 'AAC', recorded: true },
    ])
  })

  test('is also reported where people see or hear it and recordings lack it, and where the camera refused it', () => {
    const [jpeg, vp8, pcma] = [track('video', 'JPEG/90000'), track('video', 'VP8/90000'), track('audio', 'PCMA/8000')]
    expect(shortcomingsOf([jpeg], [jpeg], all)).toEqual([
      { kind: 'video', way: 'not_recorded', reason: 'jpeg', detail: 'Motion JPEG', recorded: false },
    ])
    expect(shortcomingsOf([vp8, pcma], [vp8, pcma], all)).toEqual([
      { kind: 'audio', way: 'not_recorded', reason: 'webm', detail: 'G.711 A-law', recorded: false },
    ])
    const detail = '551 Option not supported to SETUP of track 2 (G.711 A-law)'
    expect(shortcomingsOf([vp8, pcma], [vp8], all, [{ detail, message: '' }])).toEqual([
      { kind: 'audio', way: 'refused', reason: 'refused', detail, recorded: false },
    ])
  })

  test.each([
    'PCMA/8000',
    'PCMU/16000/2',
    'L16/44100/2',
    'G722/8000',
    'G726-16/8000',
    'AAL2-G726-40/8000',
    'opus/48000/2',
    'mpeg4-generic/48000/2',
    'MPA/90000',
    'speex/16000',
    'L16/96000',
    'G726-32/8000/2',
  ])('%s: what is said of recordings is what they do', (map) => {
    const [picture, sound] = [h264('Z0LAKNoB4AiflwFqAgICgAAAAwCAAAAPR4wZUA=='), track('audio', map)]
    const isRecorded = soundAssembly(sound, () => {}) !== undefined
    const told = (abilities: Abilities): boolean =>
      shortcomingsOf([picture, sound], [picture, sound], abilities)[0]?.recorded ?? true
    expect(told(noAbilities)).toBe(isRecorded)
    // What is converted for viewers is recorded in that form.
    expect(told(all)).toBe(isRecorded || sourceTrack(sound) !== undefined)
  })

  test('is dropped if the camera has another that browsers play', () => {
    const tracks = [track('video', 'H265/90000'), h264('Z0LAKNoB4AiflwFqAgICgAAAAwCAAAAPR4wZUA==')]
    expect(tracksToPull(tracks, all).map(({ codec }) => codec)).toEqual(['H264'])
    expect(tracksToPull(tracks.slice(0, 1)).map(({ codec }) => codec)).toEqual(['H265'])
  })
})

describe('packets of a camera', () => {
  test('never make an assembler throw', () => {
    const tracks = [
      track('video', 'H264/90000'),
      track('video', 'H265/90000'),
      track('video', 'JPEG/90000'),
      track('video', 'MP4V-ES/90000'),
      track('video', 'H263-2000/90000'),
      track('video', 'MPV/90000'),
      track('audio', 'mpeg4-generic/48000/1', aacParameters),
      track('audio', 'MP4A-LATM/48000', 'cpresent=0;config=40002310adca00'),
      track('audio', 'G726-24/8000'),
    ]
    const payload = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 })
    const packet = fc.tuple(fc.nat(5), fc.nat(3), payload, fc.boolean())
    fc.assert(
      fc.property(fc.constantFrom(...tracks), fc.array(packet, { maxLength: 12 }), (one, packets) => {
        const frames: SourceFrame[] = []
        const assembly = sourceTrack(one)?.assembly((frame) => frames.push(frame))
        for (const [index, [skip, step, bytes, marker]] of packets.entries()) {
          assembly?.push(rtp(index + skip, step * 3_000, bytes, marker))
        }
        expect(frames.every(({ frame }) => frame.length > 0)).toBe(true)
      }),
    )
  })

  test('of an incomplete picture are dropped', () => {
    const frames: Buffer[] = []
    const pictures = sourceTrack(track('video', 'H264/90000'))?.assembly(({ frame }) => frames.push(frame))
    const fragment = (sequence: number, at: number, flags: number): void =>
      pictures?.push(rtp(sequence, at, [0x7c, flags | 5, sequence], (flags & 0x40) !== 0))
    for (const [sequence, flags] of [0x80, 0, 0x40].entries()) fragment(sequence, 3_000, flags)
    for (const [sequence, flags] of [0x80, 0x40].entries()) fragment(3 + sequence * 2, 6_000, flags)
    pictures?.push(rtp(6, 9_000, [0x65, 9, 8]))
    expect(frames.map((frame) => frame.toString('hex'))).toEqual(['0000000165000102', '00000001650908'])
  })

  test('that arrive out of order are sorted, and a gap is not awaited for ever', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 30, maxLength: 30 }), (delays) => {
        const sent = delays.map((delay, index) => ({ index, at: index + delay })).toSorted((a, b) => a.at - b.at)
        const order: number[] = []
        const sequence = new PacketSequence(8, (packet) => order.push(packet.readUInt16BE(2)))
        // The first one sets the start.
        sequence.push(rtp(99, 0, []))
        for (const { index } of sent) sequence.push(rtp(100 + index, 0, []))
        expect(order).toEqual([99, ...delays.map((_, index) => 100 + index)])
      }),
    )
    const order: number[] = []
    const sequence = new PacketSequence(2, (packet) => order.push(packet.readUInt16BE(2)))
    for (const number of [1, 3, 4, 5, 6]) sequence.push(rtp(number, 0, []))
    expect(order).toEqual([1, 3, 4, 5, 6])
  })

  test('keep continuous timestamps when the camera resets its clock', () => {
    const clock = new SourceClock(90_000)
    clock.note(4_294_960_000, 0)
    expect(clock.note(4_294_963_600, 40)).toBe(false)
    // Past the end of 32 bits.
    clock.note((4_294_963_600 + 7_200) % 2 ** 32, 120)
    expect(clock.at((4_294_963_600 + 7_200) % 2 ** 32)).toBeCloseTo(120)
    expect(clock.note(1_000_000_000, 160)).toBe(true)
    expect(clock.at(1_000_000_000)).toBeCloseTo(160)
    expect(clock.at(1_000_003_600)).toBeCloseTo(200)
  })

  test('of G.726 have their codewords reordered', () => {
    expect(maxSignificantFirst(Buffer.from([0x21, 0x43]), 4).toString('hex')).toBe('1234')
    // 1, 2, 3, 4, 5, 6, 7, 0 in three bits each.
    expect(maxSignificantFirst(Buffer.from('d158 1f'.replace(' ', ''), 'hex'), 3).toString('hex')).toBe('29cbb8')
  })
})

/** Header of a stream whose unit of time is half a millisecond. */
function ivfHeader(): Buffer {
  const header = Buffer.alloc(32)
  header.write('DKIF', 'latin1')
  header.writeUInt32LE(2_000, 16)
  header.writeUInt32LE(1, 20)
  return header
}

function ivfFrame(time: number, bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt32LE(bytes.length)
  header.writeBigUInt64LE(BigInt(time), 4)
  return Buffer.concat([header, bytes])
}

describe('input and output of ffmpeg', () => {
  test('frames are unchanged after Matroska, however the bytes are split', () => {
    const frame = fc.record({ at: fc.nat(100_000), bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }) })
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.integer({ min: 1, max: 200 }), (frames, size) => {
        const stream = Buffer.concat([
          matroskaHeader([{ number: 1, codecId: 'A_OPUS', audio: { sampleRate: 48_000, channels: 2 } }]),
          ...frames.map(({ at, bytes }) => matroskaFrame(1, at * ticksPerMs, true, Buffer.from(bytes))),
        ])
        const out: { at: number; frame: string }[] = []
        const reader = new MatroskaReader(({ at, frame: read }) => out.push({ at, frame: read.toString('hex') }))
        for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size))
        expect(out).toEqual(
          frames.map(({ at, bytes }) => ({ at: at * ticksPerMs, frame: Buffer.from(bytes).toString('hex') })),
        )
      }),
    )
  })

  test('frames of IVF are read whole, at their times, however the bytes are split', () => {
    const frame = fc.record({ at: fc.nat(100_000), bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }) })
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.integer({ min: 1, max: 200 }), (frames, size) => {
        const stream = Buffer.concat([ivfHeader(), ...frames.map(({ at, bytes }) => ivfFrame(at * 2, bytes))])
        const out: { at: number; frame: string }[] = []
        const reader = new IvfReader(({ at, units }) => out.push({ at, frame: Buffer.concat(units).toString('hex') }))
        for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size))
        expect(out).toEqual(frames.map(({ at, bytes }) => ({ at, frame: Buffer.from(bytes).toString('hex') })))
      }),
    )
  })

  test('any other data ends the reading without further harm', () => {
    fc.assert(
      fc.property(fc.nat(2), fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 6 }), (form, chunks) => {
        const reader = [new FlvReader(() => {}), new IvfReader(() => {}), new MatroskaReader(() => {})][form]
        const header = [Buffer.from('FLV0000000000'), ivfHeader(), Buffer.alloc(0)][form]
        if (reader === undefined || header === undefined) return expect.fail('there is no such form')
        try {
          reader.push(header)
          for (const chunk of chunks) reader.push(Buffer.from(chunk))
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

test('transcoders: up to the limit, the slot of an idle one is reused, and waiting cameras are notified of a free one', () => {
  const told: string[] = []
  const holder = (name: string): SlotHolder & { idle: boolean } => ({
    kind: 'picture',
    idle: false,
    giveWay: () => told.push(`${name} gives way`),
    retry: () => told.push(`${name} retries`),
  })
  const [one, two, three] = [holder('one'), holder('two'), holder('three')]
  const slots = new TranscoderSlots(1)
  expect([slots.take(one), slots.take(one), slots.take(two)]).toEqual([true, true, false])
  expect([slots.used('picture'), slots.limitOf('picture'), slots.limitOf('sound')]).toEqual([1, 1, 8])
  one.idle = true
  expect(slots.take(two)).toBe(true)
  expect(slots.take(three)).toBe(false)
  slots.wait(three)
  slots.leave(two)
  expect(told).toEqual(['one gives way', 'three retries'])
})
