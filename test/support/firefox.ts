import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import WebSocket from 'ws'
import { z } from 'zod'

/** Firefox of Debian and others; undefined: it is not installed. */
export const firefoxPath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path))

/** A page of Firefox without a window. */
export interface FirefoxPage extends AsyncDisposable {
  goto(url: string): Promise<void>
  /** Evaluates an expression, and awaits its promise. @returns its value as JSON @throws Error with the exception of the page */
  evaluate(expression: string): Promise<unknown>
}

const contexts = z.object({ contexts: z.array(z.object({ context: z.string() })) })
const evaluated = z.object({
  result: z.object({ value: z.string() }).optional(),
  exceptionDetails: z.object({ text: z.string() }).optional(),
})

/** Starts Firefox with an empty profile, controlled by WebDriver BiDi. */
export async function openFirefox(path: string): Promise<FirefoxPage> {
  const profile = await mkdtemp(join(tmpdir(), 'roomdesk-firefox-'))
  await writeFile(join(profile, 'user.js'), 'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n')
  const program = spawn(path, ['--headless', '--profile', profile, '--remote-debugging-port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  })
  const ended = once(program, 'exit')
  const close = async (): Promise<void> => {
    program.kill()
    await ended
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const session = await connect(await addressOf(program.stderr))
    await session('session.new', { capabilities: {} })
    const [page] = contexts.parse(await session('browsingContext.getTree', {})).contexts
    if (page === undefined) throw new Error('Firefox has no page')
    const { context } = page
    return {
      goto: async (url) => void (await session('browsingContext.navigate', { context, url, wait: 'complete' })),
      evaluate: async (expression) => {
        const wrapped = `Promise.resolve(${expression}).then((value) => JSON.stringify(value) ?? 'null')`
        const answer = await session('script.evaluate', {
          expression: wrapped,
          target: { context },
          awaitPromise: true,
        })
        const { result, exceptionDetails } = evaluated.parse(answer)
        if (result === undefined) throw new Error(exceptionDetails?.text ?? 'Firefox returned no value')
        return JSON.parse(result.value) as unknown
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function addressOf(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(stderr)) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    stderr.resume()
    return `${address}/session`
  }
  throw new Error('Firefox ended at its start')
}

type Session = (method: string, params: object) => Promise<unknown>

async function connect(address: string): Promise<Session> {
  const socket = new WebSocket(address)
  await once(socket, 'open')
  let last = 0
  return async (method, params) => {
    const id = ++last
    const answer = new Promise<unknown>((resolve, reject) => {
      const take = (data: WebSocket.RawData): void => {
        const message = JSON.parse((data as Buffer).toString()) as { id?: number; result?: unknown; message?: string }
        if (message.id !== id) return
        socket.off('message', take)
        if (message.result === undefined) reject(new Error(`${method}: ${message.message ?? 'no result'}`))
        else resolve(message.result)
      }
      socket.on('message', take)
      socket.once('close', () => reject(new Error('Firefox ended')))
    })
    socket.send(JSON.stringify({ id, method, params }))
    return await answer
  }
}
