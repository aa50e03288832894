import { expect, test } from 'vitest'
import { parseChallenges } from '../../server/media/rtsp/authentication.ts'
import { parseDescription } from '../../server/media/rtsp/description.ts'
import { baseUrls, controlUrls } from '../../server/media/rtsp/leniency.ts'
import { describedResolution } from '../../server/media/rtsp/resolution.ts'
import { parseSession, parseTransport } from '../../server/media/rtsp/message-head.ts'
import { maxBody, maxHead, WireReader } from '../../server/media/rtsp/wire-reader.ts'
import { parameterSetsOf } from '../../server/media/rtp/nal-units.ts'
import { clockPointOf, eachReport, readFeedback } from '../../server/media/rtp/rtcp.ts'
import { parseOffer } from '../../server/media/webrtc/offer.ts'

/** Maximum processing time of one input, in milliseconds: everybody's media waits meanwhile. */
const maxMs = 5

/** Measures the time of a run, also if it throws. */
function timeOf(run: () => void): number {
  const began = performance.now()
  try {
    run()
  } catch {
    // A refusal counts like a result.
  }
  return performance.now() - began
}

/** Minimum of several runs: the machine may be busy. */
function shortest(run: () => void): number {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 60 && best > maxMs / 5; i++) best = Math.min(best, timeOf(run))
  return best
}

/** Repeats `piece` up to `size`. */
const repeated = (piece: string, size: number): string => piece.repeat(Math.ceil(size / piece.length)).slice(0, size)

const pieces = [
  ...[
    'a',
    ' ',
    ',',
    ';',
    '=',
    '"',
    '\\"',
    '\\',
    'a=',
    'a="',
    'a=,',
    ' =',
    '= ',
    ', Digest ',
    'Digest a="b", ',
    '-',
    '1',
  ],
  ...['/', '@', ':', 'a:b@', '[', '%', '%2', '://', 'rtsp://a:b@', '?', '#', '\t', '\u00e9', '\0'],
]

test.each([4 * 1024, maxHead])('a challenge of %i bytes is parsed at once, whatever it repeats', (size) => {
  for (const piece of pieces) {
    for (const begin of ['', 'Digest ', 'Digest realm="', 'Basic realm=']) {
      const field = begin + repeated(piece, size - begin.length)
      expect(
        shortest(() => parseChallenges([field])),
        `${begin}${piece}`,
      ).toBeLessThan(maxMs)
    }
  }
})

test('a Transport, a Session and a control attribute are parsed at once', () => {
  for (const piece of pieces) {
    const text = repeated(piece, maxHead)
    const cost = (run: () => void): void => expect(shortest(run), piece).toBeLessThan(maxMs)
    cost(() => parseTransport(text))
    cost(() => parseTransport(`RTP/AVP;interleaved=${text.slice(0, 1_000)}`))
    cost(() => parseSession(text))
    cost(() => parseSession(`1;timeout=${text}`))
    cost(() => controlUrls(['rtsp://camera/'], text))
    cost(() => baseUrls('rtsp://camera/', text))
    cost(() => controlUrls(['rtsp://camera/'], `rtsp://${text.slice(0, 1_000)}`))
  }
})

const lines = [
  ...[
    'v=0',
    'm=video 0 RTP/AVP 96',
    'a=rtpmap:96 H264/90000',
    'a=fmtp:96 a=b;c=d',
    'a=control:x',
    'a=',
    'm=',
    'a=fmtp:',
  ],
  ...[
    'a=candidate:1 1 UDP 1 1.1.1.1 1 typ host',
    'a=ssrc:1 cname:x',
    'a=extmap:1 x',
    'a=rtcp-fb:96 nack',
    'a=imageattr:96 send [x=1]',
  ],
]

test('a description of maximum size is parsed at once', () => {
  for (const line of lines) {
    const text = repeated(`${line}\r\n`, maxBody)
    expect(
      shortest(() => parseDescription(`m=video 0 RTP/AVP 96\r\n${text}`)),
      line,
    ).toBeLessThan(maxMs)
    for (const piece of pieces) {
      const long = `m=video 0 RTP/AVP 96\r\n${repeated(`${line}${repeated(piece, 4_000)}\r\n`, maxBody)}`
      expect(
        shortest(() => parseDescription(long)),
        `${line} ${piece}`,
      ).toBeLessThan(maxMs)
    }
  }
})

test('its parameter sets are parsed at once', () => {
  for (const text of [
    repeated('Z,', maxBody),
    repeated('Zz0', maxBody),
    repeated(',', maxBody),
    repeated('AAAA', maxBody),
  ]) {
    const parameters = new Map([
      ['sprop-parameter-sets', text],
      ['sprop-sps', text],
    ])
    for (const codec of ['H264', 'H265']) {
      const track = {
        kind: 'video' as const,
        payloadType: 96,
        codec,
        clockRate: 90_000,
        channels: 1,
        parameters,
        control: '',
      }
      expect(shortest(() => describedResolution(track))).toBeLessThan(maxMs)
    }
    expect(shortest(() => parameterSetsOf(text))).toBeLessThan(maxMs)
  }
})

test('a message of maximum size is read at once, in one piece, or as the last of many', () => {
  for (const piece of [
    'a: b\r\n',
    ':\r\n',
    '\r\n',
    '\r',
    '\n\r',
    'x',
    'CSeq: 1\r\n',
    'Content-Length: 1\r\n',
    ' \r\n',
  ]) {
    const text = `RTSP/1.0 200 OK\r\n${repeated(piece, maxHead - 30)}\r\n\r\n`
    const whole = Buffer.from(text, 'latin1')
    expect(
      shortest(() => readerOf([]).push(whole)),
      piece,
    ).toBeLessThan(maxMs)
    const cuts = Array.from({ length: whole.length / 16 }, (_, index) => whole.subarray(16 * index, 16 * index + 16))
    const costs = [readerOf(cuts), readerOf(cuts), readerOf(cuts)].map((reader) =>
      timeOf(() => reader.push(whole.subarray(-16))),
    )
    expect(Math.min(...costs), piece).toBeLessThan(maxMs)
  }
})

/** Makes a reader that has read these pieces, as far as it accepts them. */
function readerOf(chunks: readonly Buffer[]): WireReader {
  const reader = new WireReader({ message: () => {}, packet: () => {} })
  try {
    for (const chunk of chunks) reader.push(chunk)
  } catch {
    // The pieces are refused, and the next one as well.
  }
  return reader
}

test('a report of maximum size is parsed at once', () => {
  const deaf = {
    missing: () => {},
    keyFrameWanted: () => {},
    bitrate: () => {},
    block: () => {},
    referenceTime: () => {},
  }
  for (const unit of [
    [0x80, 200, 0, 0],
    [0x81, 201, 0, 7],
    [0x80, 200, 0, 6],
    [0x81, 205, 0, 3],
    [0x81, 205, 0xff, 0xff],
    [0x8f, 206, 0, 5],
    [0x80, 207, 0xff, 0xff],
    [4, 0, 0, 2],
    [0, 0, 0, 0],
  ]) {
    const compound = Buffer.alloc(65_535, Buffer.from(unit))
    expect(shortest(() => eachReport(compound, () => {}))).toBeLessThan(maxMs)
    expect(shortest(() => clockPointOf(compound))).toBeLessThan(maxMs)
    expect(shortest(() => readFeedback(compound, deaf))).toBeLessThan(maxMs)
  }
})

test('an offer of maximum size is parsed at once', () => {
  const size = 64 * 1024
  const section = 'v=0\r\na=ice-ufrag:abcd\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\n'
  for (const line of lines) {
    expect(
      shortest(() => parseOffer(section + repeated(`${line}\r\n`, size))),
      line,
    ).toBeLessThan(maxMs)
    for (const piece of pieces) {
      const long = section + repeated(`${line}${repeated(piece, 4_000)}\r\n`, size)
      expect(
        shortest(() => parseOffer(long)),
        `${line} ${piece}`,
      ).toBeLessThan(maxMs)
      const longest = section + line + repeated(piece, size)
      expect(
        shortest(() => parseOffer(longest)),
        `one line: ${line} ${piece}`,
      ).toBeLessThan(maxMs)
    }
  }
})
