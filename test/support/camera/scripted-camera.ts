import { once } from 'node:events'
import net from 'node:net'

/** A request as received by a scripted camera. */
export interface SeenRequest {
  method: string
  url: string
  headers: Map<string, string>
  text: string
}

/** Answer of a scripted camera: status line and fields, perhaps a body; CSeq is added. undefined: no answer. */
export type Answer =
  | { status: number; headers?: Record<string, string>; body?: string; after?: (socket: net.Socket) => void }
  | undefined

/** A camera with answers given by the test, for behaviour that no real server at hand has (SHA-256, stale nonces, odd answers). */
export interface ScriptedCamera extends AsyncDisposable {
  port: number
  requests: SeenRequest[]
  sockets: Set<net.Socket>
}

/** An SDP with one H.264 track. */
export const h264Description = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=camera',
  't=0 0',
  'a=control:*',
  'm=video 0 RTP/AVP 96',
  'a=rtpmap:96 H264/90000',
  'a=fmtp:96 packetization-mode=1;profile-level-id=42c01e;sprop-parameter-sets=Z0LAKNoB4AiflwFqAgICgAAAAwCAAAAPR4wZUA==,aM48gA==',
  'a=control:track1',
  '',
].join('\r\n')

/** Makes an RTP packet with the first byte of a key frame, as an interleaved frame of channel 0. */
export function interleavedPacket(sequence: number): Buffer {
  const packet = Buffer.alloc(4 + 12 + 8)
  packet.set([0x24, 0, 0, 20, 0x80, 96])
  packet.writeUInt16BE(sequence, 6)
  packet[16] = 0x65
  return packet
}

/** Answers of a well-behaved camera; a test overrides those it is about. */
export function usualAnswer({ method }: SeenRequest): Answer {
  switch (method) {
    case 'OPTIONS':
      return { status: 200, headers: { Public: 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN' } }
    case 'DESCRIBE':
      return { status: 200, headers: { 'Content-Type': 'application/sdp' }, body: h264Description }
    case 'SETUP':
      return { status: 200, headers: { Session: '12345;timeout=60', Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' } }
    case 'PLAY':
      return { status: 200, after: (socket) => socket.write(interleavedPacket(1)) }
    default:
      return { status: 200 }
  }
}

/** Starts a camera that answers with `answer`. */
export async function startScriptedCamera(
  answer: (request: SeenRequest) => Answer,
  host = '127.0.0.1',
): Promise<ScriptedCamera> {
  const requests: SeenRequest[] = []
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8')
      for (;;) {
        // Ignores receiver reports, which the client sends interleaved.
        if (text.startsWith('$')) return
        const end = text.indexOf('\r\n\r\n')
        if (end < 0) return
        const request = parseRequest(text.slice(0, end))
        text = text.slice(end + 4)
        requests.push(request)
        const reply = answer(request)
        if (reply === undefined) continue
        const body = reply.body ?? ''
        const fields = { CSeq: request.headers.get('cseq') ?? '0', ...reply.headers }
        const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
        if (body !== '') lines.push(`Content-Length: ${Buffer.byteLength(body)}\r\n`)
        socket.write(`RTSP/1.0 ${reply.status} Status\r\n${lines.join('')}\r\n${body}`)
        reply.after?.(socket)
      }
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    requests,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

export function parseRequest(text: string): SeenRequest {
  const [start = '', ...lines] = text.split('\r\n')
  const [method = '', url = ''] = start.split(' ')
  const headers = new Map(
    lines.map(
      (line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()] as const,
    ),
  )
  return { method, url, headers, text }
}
