import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { OlderPictures } from '../../../../server/media/transcode/older-pictures.ts'

/** Start codes of a picture, and of the sequence header before it (ISO/IEC 13818-2, section 6.2.1). */
const [picture, sequence] = [Buffer.from([0, 0, 1, 0]), Buffer.from([0, 0, 1, 0xb3])]

/** Pictures of a stream, each with the headers before it. */
function picturesOf(bytes: Buffer): Buffer[] {
  const cuts: number[] = []
  for (let at = bytes.indexOf(picture); at >= 0; at = bytes.indexOf(picture, at + 4)) {
    const header = bytes.lastIndexOf(sequence, at)
    const previous = bytes.lastIndexOf(picture, at - 1)
    cuts.push(header > previous ? header : at)
  }
  return cuts.map((cut, index) => bytes.subarray(cut, cuts[index + 1] ?? bytes.length))
}

test.each([
  ['mpeg1video', 4],
  ['mpeg2video', 8],
])('%s of a camera is put together for ffmpeg', (codec, header) => {
  const film = ['-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=25', '-frames:v', '30', '-g', '10', '-bf', '0']
  const bytes = execFileSync('ffmpeg', ['-v', 'error', ...film, '-c:v', codec, '-f', codec, '-'], {
    maxBuffer: 1 << 26,
  })
  const frames: { frame: Buffer; key: boolean }[] = []
  const assembly = new OlderPictures('MPV', (frame) => frames.push(frame))
  for (const [index, one] of picturesOf(bytes).entries()) {
    for (let at = 0; at < one.length; at += 1_000) {
      const head = Buffer.alloc(12 + header)
      head.set([0x80, at + 1_000 >= one.length ? 0x80 | 32 : 32])
      head.writeUInt32BE(index * 3_600, 4)
      // Bit T announces the second header, of MPEG-2 (RFC 2250, section 3.4).
      if (header === 8) head[12] = 4
      assembly.push(Buffer.concat([head, one.subarray(at, at + 1_000)]))
    }
  }
  expect(frames.map(({ key }) => key)).toEqual(Array.from({ length: 30 }, (_, index) => index % 10 === 0))
  expect(Buffer.concat(frames.map(({ frame }) => frame)).equals(bytes)).toBe(true)
})
