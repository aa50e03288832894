import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Requests with raw UTF-8 in their target (`curl 'http://…?topic=会议'`). Node's HTTP parser rejects every byte above
 * 0x7e in a target. Such a request is therefore parsed here from the rejected packet, and then handled like other
 * requests. The connection is closed after the answer, because its parser no longer works.
 */

const requestLine = /^([A-Z]{3,7}) (\/[^\x00-\x20\x7f]*) HTTP\/1\.([01])$/
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):([^\x00-\x08\x0a-\x1f\x7f]*)$/

/**
 * Removes spaces and tabs at both ends of a header's value. A regular expression would take quadratic time on a long
 * run of spaces.
 */
function trimmed(value: string): string {
  const isBlank = (at: number): boolean => value[at] === ' ' || value[at] === '\t'
  let start = 0
  let end = value.length
  while (start < end && isBlank(start)) start++
  while (end > start && isBlank(end - 1)) end--
  return value.slice(start, end)
}

/**
 * Handles a request that is complete in `packet`. Returns false if the packet is not a complete request with raw bytes
 * in its target.
 */
export function acceptRawTarget(socket: Socket, packet: Buffer, listener: RequestListener): boolean {
  const headEnd = packet.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const [first = '', ...lines] = packet.toString('latin1', 0, headEnd).split('\r\n')
  const [, method, target, minor] = requestLine.exec(first) ?? []
  if (method === undefined || target === undefined || !/[\x80-\xff]/.test(target)) return false
  const rawHeaders: string[] = []
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name === undefined || value === undefined) return false
    rawHeaders.push(name, trimmed(value))
  }
  const lengths = rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === 'content-length')
  const chunked = rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'transfer-encoding')
  const length = lengths[0] ?? '0'
  const body = packet.subarray(headEnd + 4)
  if (chunked || lengths.length > 1 || !/^\d{1,9}$/.test(length) || body.length < Number(length)) return false

  const request = new IncomingMessage(socket)
  request.method = method
  request.url = target
  request.httpVersion = `1.${minor}`
  request.httpVersionMajor = 1
  request.httpVersionMinor = Number(minor)
  request.rawHeaders = rawHeaders
  for (let i = 0; i < rawHeaders.length; i += 2) {
    request.headers[(rawHeaders[i] ?? '').toLowerCase()] ??= rawHeaders[i + 1]
  }
  request.complete = true
  if (Number(length) > 0) request.push(body.subarray(0, Number(length)))
  request.push(null)

  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
  })
  listener(request, response)
  return true
}
