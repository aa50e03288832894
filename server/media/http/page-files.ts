import type { Context } from 'koa'
import { blurFolder, manifestFile, roomPagePath, joinLink, roomParameter } from '../../../shared/media/room-page.ts'
import type { PageFiles } from './web.ts'

const maxRoomIdLength = 128
/** Sizes in pixels of the icons in the page folder, from `assets/icons`. */
const iconSizes = [96, 128, 256, 512] as const

/** Form of the origins accepted into a policy; any other text could add a directive. */
const originForm = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/**
 * Returns the content security policy of the page. The page may connect only to nodes of the site, because it can be
 * redirected to them; all other content comes from its own origin. If a node was added later, the page reloads (see
 * `page-renewal.ts`).
 * @param host host and port of this node: older browsers do not include WebSockets in `self`
 */
function pagePolicy(host: string, origins: readonly string[]): string {
  const isPlain = (origin: string): boolean => originForm.test(origin)
  const others = origins.filter((origin) => isPlain(origin) && !origin.endsWith(`//${host}`))
  const sockets = [`http://${host}`, ...others].filter(isPlain).map((origin) => origin.replace(/^http/i, 'ws'))
  return [
    "default-src 'self'",
    ["connect-src 'self'", ...others, ...sockets].join(' '),
    "img-src 'self' data: blob:",
    "media-src 'self' blob: mediastream:",
    "style-src 'self' 'unsafe-inline'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ')
}

/**
 * Policy of the worker that blurs the background. Only this worker may compile WebAssembly, for its model.
 */
const blurPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"

/**
 * Serves a file of the room page. Returns false if there is no such file.
 * @param origins see `page_origins` of the settings
 */
export async function servePage(context: Context, files: PageFiles, origins: readonly string[]): Promise<boolean> {
  if (!context.path.startsWith(roomPagePath)) return false
  if (context.method !== 'GET' && context.method !== 'HEAD') return false
  if (context.path === `${roomPagePath}${manifestFile}`) return serveManifest(context)
  const file = await files.file(context.path.slice(roomPagePath.length - 1))
  if (file === undefined) return false
  context.type = file.type
  const isBlur = context.path.startsWith(roomPagePath + blurFolder)
  context.set('Content-Security-Policy', isBlur ? blurPolicy : pagePolicy(context.host, origins))
  context.set('X-Content-Type-Options', 'nosniff')
  context.set('Referrer-Policy', 'no-referrer')
  context.set('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  context.body = file.body
  return true
}

/** Serves the manifest of a room's page. The manifest does not reveal whether the room exists. */
function serveManifest(context: Context): boolean {
  const manifest = roomManifest(context.search)
  if (manifest === undefined) return false
  context.type = 'application/manifest+json'
  context.set('X-Content-Type-Options', 'nosniff')
  context.set('Cache-Control', 'no-cache')
  context.body = JSON.stringify(manifest)
  return true
}

/**
 * Returns the web app manifest (W3C) of a room's page. An installed app opens that room in a separate window. All
 * addresses are relative to the manifest, so that they work behind any proxy.
 * @param search query of the request, e.g. `?roomId=123`
 * @returns undefined without a room
 */
function roomManifest(search: string): Record<string, unknown> | undefined {
  const roomId = new URLSearchParams(search).get(roomParameter) ?? ''
  if (roomId === '' || roomId.length > maxRoomIdLength) return undefined
  const start = joinLink('./', roomId, '')
  return {
    id: start,
    name: `Roomdesk · ${roomId}`,
    short_name: `Roomdesk ${roomId}`,
    start_url: start,
    scope: './',
    display: 'standalone',
    background_color: '#f2f4f6',
    theme_color: '#111a23',
    icons: iconSizes.map((size) => ({ src: `${size}x${size}.png`, sizes: `${size}x${size}`, type: 'image/png' })),
  }
}
