import http from 'node:http'
import https from 'node:https'
import { WebSocket } from 'ws'

/** Agent with the trusted certificates, for nodes with TLS; undefined: those of Node. */
export type NodeTrust = https.Agent | undefined

/** Answer of a node. */
interface NodeAnswer {
  status: number
  location: string | undefined
  body: string
}

/** Maximum time for an answer, in milliseconds. Nodes answer offers one after the other. */
const answerMs = 20_000
/** Maximum number of characters of an answer. */
const maxAnswer = 256 * 1024

/** Sends a request to a node. @throws Error without a complete answer */
export async function askNode(
  url: URL,
  trust: NodeTrust,
  { method, token, body = '' }: { method: 'GET' | 'POST' | 'DELETE'; token: string; body?: string },
): Promise<NodeAnswer> {
  const { request, agent } =
    url.protocol === 'https:' ? { request: https.request, agent: trust } : { request: http.request, agent: undefined }
  const { promise, resolve, reject } = Promise.withResolvers<NodeAnswer>()
  const headers = {
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    ...(method === 'POST' && { 'content-type': 'application/sdp', 'content-length': Buffer.byteLength(body) }),
  }
  const signal = AbortSignal.timeout(answerMs)
  const sent = request(url, { method, headers, agent: agent ?? false, signal }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > maxAnswer) response.destroy(new Error('The answer is too long.'))
    })
    response.once('error', reject)
    response.once('end', () => {
      const { statusCode: status = 0, headers: answered } = response
      resolve({ status, location: answered.location, body: text })
    })
  })
  sent.once('error', reject)
  sent.end(body)
  return await promise
}

/** Opens the signalling of a node. @param node base URL of the node */
export function openSignal(node: URL, trust: NodeTrust): WebSocket {
  const url = new URL(`${node.href.replace(/\/$/, '').replace(/^http/, 'ws')}/signal`)
  const agent = url.protocol === 'wss:' ? trust : undefined
  return new WebSocket(url, { handshakeTimeout: answerMs, ...(agent !== undefined && { agent }) })
}
