import type { Context } from 'koa'
import { blurFolder, manifestFile, roomPagePath } from '../../../shared/media/room-page.ts'
import { roomManifest } from './room-manifest.ts'
import type { PageFiles } from './web.ts'

/**
 * Permissions of the page. It connects to any host, because the addresses of the site's other nodes, to which it is sent on, are known only while it runs; everything else comes from its
 * own origin.
 */
const policy = [
  "default-src 'self'",
  "connect-src 'self' ws: wss: http: https:",
  "img-src 'self' data: blob:",
  "media-src 'self' blob: mediastream:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')
/** Permissions of the worker that blurs the background: it compiles the program of its model. The page itself may not. */
const blurPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"

/** Serves a file of the room page. Returns false for what is not there. */
export async function servePage(context: Context, files: PageFiles): Promise<boolean> {
  if (!context.path.startsWith(roomPagePath)) return false
  if (context.method !== 'GET' && context.method !== 'HEAD') return false
  if (context.path === `${roomPagePath}${manifestFile}`) return serveManifest(context)
  const file = await files.file(context.path.slice(roomPagePath.length - 1))
  if (file === undefined) return false
  context.type = file.type
  context.set('Content-Security-Policy', context.path.startsWith(roomPagePath + blurFolder) ? blurPolicy : policy)
  context.set('X-Content-Type-Options', 'nosniff')
  context.set('Referrer-Policy', 'no-referrer')
  context.set('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  context.body = file.body
  return true
}

/** Serves the manifest of a room's page; the same whether the room exists or not. */
function serveManifest(context: Context): boolean {
  const manifest = roomManifest(context.search)
  if (manifest === undefined) return false
  context.type = 'application/manifest+json'
  context.set('X-Content-Type-Options', 'nosniff')
  context.set('Cache-Control', 'no-cache')
  context.body = JSON.stringify(manifest)
  return true
}
