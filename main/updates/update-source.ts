import { createReadStream } from 'node:fs'
import { isAbsolute } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { fileURLToPath } from 'node:url'
import { net } from 'electron'
import { insideOf } from '../../shared/files/own-path.ts'
import { problemOf, UpdateProblem } from './update-problem.ts'

/** Maximum time without data from a server, at the start and between two parts of a file, in milliseconds. */
const silenceMs = 20_000
/**
 * Hosts from which plain HTTP is accepted, because the connection stays on this computer. With any other host, an
 * attacker on the network path could deliver a different app.
 */
const localHosts = new Set(['127.0.0.1', '[::1]'])

/** Source of the site's updates: a web server or a folder. */
export interface UpdateSource {
  /** Opens a file by its name. @throws UpdateProblem */
  open: (name: string) => Promise<AsyncIterable<Uint8Array>>
}

/**
 * Parses the address of an update source, entered by the operator: `https://…`, `http://…` on this computer,
 * `file://…`, or the path of a folder.
 * @param waitMs maximum time without data from a server, in milliseconds
 * @throws UpdateProblem
 */
export function updateSource(address: string, waitMs = silenceMs): UpdateSource {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'http:' && !localHosts.has(url.hostname)) throw new UpdateProblem('plainHttp', url.host)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return webServer(url, waitMs)
  if (url?.protocol === 'file:') return folder(fileURLToPath(url))
  if (isAbsolute(address)) return folder(address)
  throw new UpdateProblem('badSource', address)
}

function folder(path: string): UpdateSource {
  return {
    open: async (name) => {
      const stream = createReadStream(insideOf(path, name))
      await new Promise<void>((resolve, reject) => {
        stream.once('ready', resolve)
        stream.once('error', (error: NodeJS.ErrnoException) =>
          reject(
            error.code === 'ENOENT'
              ? new UpdateProblem('noFile', insideOf(path, name))
              : problemOf(error, 'unreadable'),
          ),
        )
      })
      return stream
    },
  }
}

function webServer(base: URL, waitMs: number): UpdateSource {
  const root = new URL(base)
  if (!root.pathname.endsWith('/')) root.pathname += '/'
  return {
    open: async (name) => {
      const url = new URL(encodeURIComponent(name), root)
      const silence = new AbortController()
      let timer = setTimeout(() => silence.abort(), waitMs)
      const fail = (error: unknown): UpdateProblem =>
        silence.signal.aborted ? new UpdateProblem('silent', root.host) : problemOf(error, 'unreachable')
      const answer = await net
        .fetch(url.href, { signal: silence.signal, cache: 'no-store', credentials: 'omit' })
        .catch((error: unknown) => {
          clearTimeout(timer)
          throw fail(error)
        })
      if (answer.status !== 200 || answer.body === null) {
        clearTimeout(timer)
        silence.abort()
        throw new UpdateProblem('refused', `${answer.status} ${url.href}`)
      }
      // Electron's response has the DOM type of streams.
      const body = Readable.fromWeb(answer.body as ReadableStream<Uint8Array>)
      return (async function* parts(): AsyncGenerator<Uint8Array> {
        try {
          for await (const part of body as AsyncIterable<Uint8Array>) {
            clearTimeout(timer)
            yield part
            timer = setTimeout(() => silence.abort(), waitMs)
          }
        } catch (error) {
          throw fail(error)
        } finally {
          clearTimeout(timer)
          silence.abort()
        }
      })()
    },
  }
}
