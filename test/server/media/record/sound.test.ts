import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { soundAssembly } from '../../../../server/media/record/sound-assembly.ts'
import type { AssembledSound } from '../../../../server/media/record/track-format.ts'
import type { RawFormat } from '../../../../server/media/feeds/raw-tap.ts'

/** Output of ffmpeg. */
function ffmpeg(args: readonly string[], input?: Buffer): Buffer {
  return execFileSync('ffmpeg', ['-v', 'error', ...args, '-'], { maxBuffer: 1 << 26, ...(input && { input }) })
}

/** Two seconds of a tone that swells, with noise: every branch of an adaptive decoder is used. */
const sound = (sampleRate: number, channels: number): string[] => {
  const tone = '0.5*sin(440*2*PI*t)*(1+sin(3*t))/2+0.3*random(0)*lt(mod(t\\,1)\\,0.4)'
  const other = '0.6*sin(1200*2*PI*t)'
  const formula = channels === 1 ? tone : `${tone}|${other}`
  return ['-f', 'lavfi', '-i', `aevalsrc=${formula}:s=${sampleRate}:d=2`]
}

function rtp(sequence: number, timestamp: number, payload: Buffer): Buffer {
  const head = Buffer.from([0x80, 97, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  head.writeUInt16BE(sequence, 2)
  head.writeUInt32BE(timestamp >>> 0, 4)
  return Buffer.concat([head, payload])
}

/** A codec as a camera sends it: how ffmpeg makes it, and how it lies in packets. */
interface Case {
  codec: string
  clockRate: number
  sampleRate?: number
  channels?: number
  make: string[]
  /** What ffmpeg decodes it by. */
  read: string[]
  /** Bytes and ticks of a packet. */
  bytes: number
  ticks: number
}

const cases: Case[] = [
  ...[8_000, 16_000, 11_025, 48_000].flatMap((clockRate) =>
    [1, 2].flatMap((channels) =>
      [
        { codec: 'PCMA', format: 'alaw', width: 1 },
        { codec: 'PCMU', format: 'mulaw', width: 1 },
        { codec: 'L16', format: 's16be', width: 2 },
      ].map(({ codec, format, width }) => ({
        ...{ codec, clockRate, channels, make: ['-f', format], bytes: 160 * width * channels, ticks: 160 },
        read: ['-f', format, '-ar', String(clockRate), '-ac', String(channels)],
      })),
    ),
  ),
  ...[16, 24, 32, 40].flatMap((rate) =>
    ['G726', 'AAL2-G726'].map((name) => {
      const format = name === 'G726' ? 'g726le' : 'g726'
      return {
        ...{ codec: `${name}-${rate}`, clockRate: 8_000, bytes: rate * 2.5, ticks: 160 },
        make: ['-c:a', format, '-b:a', `${rate}k`, '-f', format],
        read: ['-f', format, '-code_size', String(rate / 8)],
      }
    }),
  ),
  {
    ...{ codec: 'G722', clockRate: 8_000, sampleRate: 16_000, bytes: 160, ticks: 160 },
    make: ['-c:a', 'g722', '-f', 'g722'],
    read: ['-f', 'g722'],
  },
]

/** Gives packets to an assembly, and returns what comes out. */
function assemble(raw: RawFormat, packets: readonly Buffer[]) {
  const out: AssembledSound[] = []
  const recorded = soundAssembly(raw, (each) => out.push(each)) ?? expect.fail(`${raw.codec} is not recorded`)
  for (const packet of packets) recorded.assembly.push(packet)
  return { out, format: recorded.format }
}

test.each(cases)('$codec at $clockRate Hz, channels: $channels: nothing is lost in a recording', (each) => {
  const { codec, clockRate, channels = 1, sampleRate = clockRate, make, read, bytes, ticks } = each
  const sent = ffmpeg([...sound(sampleRate, channels), ...make])
  const packets = Array.from({ length: Math.ceil(sent.length / bytes) }, (_, index) =>
    rtp(index, index * ticks + 4_294_967_000, sent.subarray(index * bytes, (index + 1) * bytes)),
  )
  const { out, format } = assemble({ codec, clockRate, channels, parameters: new Map() }, packets)
  expect(format).toMatchObject({ codec: 'flac', sampleRate, channels })
  const folder = mkdtempSync(join(tmpdir(), 'roomdesk-sound-'))
  try {
    const file = join(folder, 'sound.flac')
    writeFileSync(file, Buffer.concat([format.description ?? Buffer.alloc(0), ...out.map(({ data }) => data)]))
    const recorded = ffmpeg(['-i', file, '-f', 's16le'])
    const expected = ffmpeg([...read, '-i', 'pipe:0', '-f', 's16le'], sent)
    expect(recorded.length).toBeGreaterThan(expected.length * 0.95)
    expect(recorded.equals(expected.subarray(0, recorded.length))).toBe(true)
  } finally {
    rmSync(folder, { recursive: true })
  }
  for (const [index, { timestamp, durationMs }] of out.entries()) {
    const ticksOf = Math.round((index * durationMs * clockRate) / 1_000)
    expect(Math.abs((timestamp - ticksOf - 4_294_967_000) | 0)).toBeLessThanOrEqual(1)
  }
})

test('sound with inexact timestamps or missing packets is recorded with silence where it is missing', () => {
  const raw = { codec: 'PCMA', clockRate: 8_000, channels: 1, parameters: new Map<string, string>() }
  const payload = Buffer.alloc(160, 0x25)
  const inexact = Array.from({ length: 100 }, (_, index) => rtp(index, index * 160 + (index % 3) * 40, payload))
  expect(assemble(raw, inexact).out.length).toBe(Math.floor((100 * 160) / 512))
  const every = Array.from({ length: 100 }, (_, index) => rtp(index, index * 160, payload))
  const lost = every.filter((_, index) => index % 10 !== 4)
  const total = assemble(raw, lost).out.reduce((sum, { durationMs }) => sum + durationMs, 0)
  expect(total).toBeGreaterThan(1_850)
  expect(total).toBeLessThanOrEqual(2_000)
})
