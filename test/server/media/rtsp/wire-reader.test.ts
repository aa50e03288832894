import fc from 'fast-check'
import { expect, test } from 'vitest'
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
