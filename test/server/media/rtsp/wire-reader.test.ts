import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RtspError } from '../../../../server/media/rtsp/rtsp-error.ts'
import { maxBody, maxHead, WireReader } from '../../../../server/media/rtsp/wire-reader.ts'

type Item = { packet: [number, string] } | { message: [string, string] }

function readAll(chunks: readonly Buffer[]): Item[] {
  const items: Item[] = []
  const reader = new WireReader({
    packet: (channel, packet) => items.push({ packet: [channel, packet.toString('hex')] }),
    message: ({ startLine, body }) => items.push({ message: [startLine, body.toString('hex')] }),
  })
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  return items
}

function interleaved(channel: number, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0x24, channel, payload.length >> 8, payload.length & 0xff]), payload])
}

function answer(body: Uint8Array, eol = '\r\n'): Buffer {
  return Buffer.concat([
    Buffer.from(`RTSP/1.0 200 OK${eol}CSeq: 1${eol}Content-Length: ${body.length}${eol}${eol}`),
    body,
  ])
}

test('messages and packets are complete however the connection splits them', () => {
  const item = fc.oneof(
    fc.tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 300 })).map(([channel, payload]) => ({
      bytes: interleaved(channel, payload),
      expected: { packet: [channel, Buffer.from(payload).toString('hex')] },
    })),
    fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('\r\n', '\n')).map(([body, eol]) => ({
      bytes: answer(body, eol),
      expected: { message: ['RTSP/1.0 200 OK', Buffer.from(body).toString('hex')] },
    })),
  )
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 }),
      (items, cuts) => {
        const bytes = Buffer.concat(items.map((each) => each.bytes))
        const chunks: Buffer[] = []
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const cut = cuts[i % cuts.length] ?? 1
          chunks.push(bytes.subarray(at, at + cut))
          at += cut
        }
        expect(readAll(chunks)).toEqual(items.map((each) => each.expected))
      },
    ),
  )
})

test('garbage is a protocol error, or waits; nothing else is thrown', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (chunks) => {
      try {
        readAll(chunks.map((chunk) => Buffer.from(chunk)))
      } catch (error) {
        expect(error).toBeInstanceOf(RtspError)
        expect(error).toMatchObject({ kind: 'protocol' })
      }
    }),
  )
})

test('a header or a body over the limit ends the connection instead of filling the memory', () => {
  const endless = (size: number): Buffer[] => Array.from({ length: size / 1024 + 2 }, () => Buffer.alloc(1024, 'a'))
  expect(() => readAll([Buffer.from('RTSP/1.0 200 OK\r\nX: '), ...endless(maxHead)])).toThrow(/too long/)
  expect(() => readAll([Buffer.from(`RTSP/1.0 200 OK\r\nContent-Length: ${maxBody + 1}\r\n\r\n`)])).toThrow(/too long/)
  expect(() => readAll([Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')])).not.toThrow()
  expect(() => readAll([Buffer.from([0x16, 3, 1, 2])])).toThrow(/not RTSP/)
})

test('a body that arrives byte by byte is assembled at once', () => {
  const bytes = answer(Buffer.alloc(maxBody, 7))
  const started = performance.now()
  expect(readAll(Array.from(bytes, (byte) => Buffer.from([byte])))).toHaveLength(1)
  expect(performance.now() - started).toBeLessThan(5_000)
})

describe('a description whose length is wrong', () => {
  const sdp = 'v=0\r\nm=video 0 RTP/AVP 96\r\na=control:track1\r\n'
  const described = (length: number | string, behind = ''): Buffer =>
    Buffer.from(`RTSP/1.0 200 OK\r\nContent-Type: application/sdp\r\nContent-Length: ${length}\r\n\r\n${sdp}${behind}`)
  const read = (bytes: Buffer, types = true): { bodies: string[]; awaited: string } => {
    const bodies: string[] = []
    const reader = new WireReader({
      packet: () => {},
      message: ({ body }) => bodies.push(body.toString()),
      awaitsDescription: () => bodies.length === 0,
    })
    reader.push(types ? bytes : Buffer.from(bytes.toString().replace('Content-Type: application/sdp\r\n', '')))
    const awaited = reader.awaitedBody
    reader.finishBody()
    return { bodies, awaited }
  }

  test.each([0, 5, sdp.length - 20, sdp.length - 12, sdp.length - 1, sdp.length + 4])('is read whole: %i', (length) => {
    const { bodies } = read(described(length))
    expect(bodies[0]?.trimEnd()).toBe(sdp.trimEnd())
  })

  test('is read whole with two lengths and no type', () => {
    expect(read(described(`0\r\nContent-Length: ${sdp.length}`), false).bodies).toEqual([sdp])
  })

  test.each(['', '\r\n', 'RT', 'RTSP/1.0 200 OK\r\nCSeq: 3\r\n\r\n', 'OPTIONS * RTSP/1.0\r\n\r\n', '$\0\0\x04abcd'])(
    'is not awaited with the right length, and %j behind it',
    (behind) => {
      const whole = read(described(sdp.length, behind))
      expect(whole.awaited).toBe('none')
      expect(whole.bodies[0]).toBe(sdp)
      expect(read(described(sdp.length - 2, behind)).bodies[0]?.trimEnd()).toBe(sdp.trimEnd())
    },
  )
})
