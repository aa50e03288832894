import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openPort } from './open-port.ts'

const clients = 40

/** Asks again and again by one connection, as long as there is one. @returns what became of the last call */
async function askUntilRefused(url: string, asked: { count: number }): Promise<string> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  try {
    for (;;) {
      const outcome = await new Promise<string>((resolve) => {
        const request = http.get(url, { agent }, (response) => {
          response.resume()
          response.once('end', () => resolve('answered'))
          response.once('error', (error) => resolve(`cut off: ${error.message}`))
        })
        request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      })
      if (outcome !== 'answered') return outcome
      asked.count++
      // As clients do that think for a moment.
      await sleep(Math.random() * 4)
    }
  } finally {
    agent.destroy()
  }
}

test('A stop cuts no call of clients that keep their connections: each is answered, until new connections are refused', async () => {
  const port = await openPort({
    request: (_, response) => void setTimeout(() => response.end('done'), Math.random() * 4),
  })
  const asked = { count: 0 }
  const outcomes = Promise.all(Array.from({ length: clients }, () => askUntilRefused(port.url, asked)))
  await expect.poll(() => asked.count).toBeGreaterThan(clients * 10)
  await port.server.stop(5_000)
  expect(new Set(await outcomes)).toEqual(new Set(['ECONNREFUSED']))
})
