import type { IncomingMessage, ServerResponse } from 'node:http'
import aws4 from 'aws4'
import type { Fault } from './object-server.ts'

/**
 * Takes requests that name the bucket in their host, `bucket.zone`, as S3 does (docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html). Checks their signature over what came,
 * and signs them anew by path: the server behind it adds the bucket to the path that it checks.
 * @param key access key and secret key at once
 * @returns what to do before the server does, and the hosts that were asked for
 */
export function bucketHosts(zone: string, key: string): { fault: Fault; hosts: Set<string> } {
  const hosts = new Set<string>()
  const fault: Fault = (request, response) => {
    const { host = '', authorization = '' } = request.headers
    hosts.add(host)
    const [name = '', port = ''] = host.split(':')
    if (!name.endsWith(`.${zone}`)) return refused(response)
    const isOurs = authorization.includes(`Credential=${key}/`)
    if (isOurs && signature(request, host, request.url ?? '', key) !== authorization) return refused(response)
    const here = `127.0.0.1:${port}`
    const bucket = name.slice(0, -zone.length - 1)
    const path = `/${bucket}${request.url === '/' ? '' : (request.url ?? '').replace(/^\/\?/, '?')}`
    if (isOurs) request.headers.authorization = signature(request, here, path, key)
    request.headers.host = here
    request.url = path
    return false
  }
  return { fault, hosts }
}

/** Header `Authorization` of a request to this host and path, over the headers that it signed. */
function signature({ method = '', headers }: IncomingMessage, host: string, path: string, key: string): string {
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
  const [, region = ''] = /Credential=[^/]+\/\d+\/([^/]+)/.exec(headers.authorization ?? '') ?? []
  const signed = Object.fromEntries(names.split(';').map((each) => [each, String(headers[each] ?? '')]))
  const request = { service: 's3', region, method, path, headers: { ...signed, host } }
  const made = aws4.sign(request, { accessKeyId: key, secretAccessKey: key })
  return String(made.headers?.Authorization)
}

function refused(response: ServerResponse): boolean {
  response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>')
  return true
}
