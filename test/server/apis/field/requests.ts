import { sendRaw } from '../../../support/sites/api-site.ts'
import type { LiveSite } from '../../../support/sites/live-site.ts'

/** Port that receives a request. */
export type Place = 'media' | 'device'

/** A request as sent on the wire, with the placeholder `TOKEN` for the token. */
export interface WireRequest {
  to: Place
  method?: string
  target: string
  headers?: readonly string[]
  body?: string
}

/** Sends a request unchanged on its own connection, and reads the whole answer. */
export function sendRequest({ client }: Pick<LiveSite, 'client'>, request: WireRequest): Promise<string> {
  const { to, method = 'GET', target, headers = [], body = '' } = request
  const filled = (text: string): string => text.replaceAll('TOKEN', () => encodeURIComponent(client.token))
  const content = filled(body)
  const lines = [`${method} ${filled(target)} HTTP/1.1`, 'Host: rooms.example', 'Connection: close', ...headers]
  if (content !== '') lines.push(`Content-Length: ${Buffer.byteLength(content)}`)
  const text = `${lines.join('\r\n')}\r\n\r\n${content}`
  return sendRaw(Number(new URL(client[to]).port), text)
}

/** Removes the parts of an answer that change with each run. */
export function withoutDate(answer: string): string {
  return answer.replace(/\r\nDate: [^\r]*/, '').replaceAll('\r\n', '\n')
}
