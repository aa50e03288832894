import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { protocol, type Session } from 'electron'
import type { Role } from '../shared/domain/roles.ts'
import { insideOf, isPathPart, type OwnPath } from '../shared/files/own-path.ts'

const scheme = 'app'
const host = 'roomdesk'

/** Origin of the page, in the form used by the page and Electron. */
export const origin = `${scheme}://${host}`

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/**
 * Content security policy of the page: allows only the app's own files. The page calls the controller over IPC, so it
 * needs no network connections.
 */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Declares `app://` as a standard scheme with its own origin, like https. Must be called before the app is ready. */
export function declareAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

/** Answers requests below `/recordings/`. @param role role of the requesting page */
type AnswerRecording = (request: Request, role: Role) => Promise<Response>

/**
 * Serves the built page from `folder` under `app://roomdesk/`. Must be called once, when the app is ready.
 * @param sessions Electron sessions of the app's pages, each with the role of its requests
 */
export function serveApp(
  folder: string,
  sessions: readonly { session: Pick<Session, 'protocol'>; role: Role }[],
  recordings: AnswerRecording,
): void {
  for (const { session, role } of sessions)
    session.protocol.handle(scheme, (request) => answer(folder, request, (asked) => recordings(asked, role)))
}

async function answer(
  folder: string,
  request: Request,
  recordings: (request: Request) => Promise<Response>,
): Promise<Response> {
  if (isRecording(request.url)) return await recordings(request)
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405)
  const path = fileOf(folder, request.url)
  const type = path === undefined ? undefined : types[extname(path)]
  if (path === undefined || type === undefined) return refuse(404)
  // The 404 response is sufficient: the page reports a missing file.
  const body = await readFile(path).catch(() => undefined)
  if (body === undefined) return refuse(404)
  const headers = { ...protection, 'content-type': type, 'content-security-policy': contentSecurityPolicy }
  return new Response(request.method === 'HEAD' ? null : new Uint8Array(body), { headers })
}

/** Whether a URL of the page belongs to a recording. */
function isRecording(address: string): boolean {
  const { protocol: own, host: named, pathname } = new URL(address)
  return own === `${scheme}:` && named === host && pathname.startsWith('/recordings/')
}

const protection = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
}

function refuse(status: number): Response {
  return new Response(null, { status, headers: { ...protection, 'content-security-policy': contentSecurityPolicy } })
}

/**
 * Returns the path of the file for one of the app's URLs. undefined: the URL is invalid or leads outside of `folder`.
 */
export function fileOf(folder: string, address: string): OwnPath | undefined {
  let url: URL
  let path: string
  try {
    url = new URL(address)
    path = decodeURIComponent(url.pathname)
  } catch {
    return undefined
  }
  if (url.protocol !== `${scheme}:` || url.host !== host || path.includes('\0')) return undefined
  const parts = path === '/' || path === '' ? ['index.html'] : path.slice(1).split('/')
  return parts.every(isPathPart) ? insideOf(folder, ...parts) : undefined
}
