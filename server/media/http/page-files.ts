import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import type { Context } from 'koa'
import { roomPagePath } from '../../../shared/media/room-page.ts'

/** What the page may do; its media comes from here, camera and microphone from the person. */
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

/** Serves a file of the room page's folder. Returns false for what is not there. */
export async function servePage(context: Context, folder: string): Promise<boolean> {
  if (folder === '' || !context.path.startsWith(roomPagePath)) return false
  if (context.method !== 'GET' && context.method !== 'HEAD') return false
  const name = decodedName(context.path.slice(roomPagePath.length))
  if (name === undefined) return false
  const file = join(folder, normalize(name === '' ? 'index.html' : name))
  if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return false
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile()) return false
  context.type = extname(file)
  context.length = found.size
  context.set('Content-Security-Policy', policy)
  context.set('X-Content-Type-Options', 'nosniff')
  context.set('Referrer-Policy', 'no-referrer')
  context.set('Cache-Control', name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
  context.body = createReadStream(file)
  return true
}

function decodedName(path: string): string | undefined {
  try {
    const name = decodeURIComponent(path)
    return name.includes('\0') ? undefined : name
  } catch {
    return undefined
  }
}
