import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWindows, type Windows } from '../support/chromium.ts'
import { step } from '../support/step.ts'

const root = join(import.meta.dirname, '../..')
/** Time for a first start, in milliseconds: Vite bundles the packages of both pages, and nothing is built. */
const startMs = 120_000

describe('a developer runs npm run dev', { timeout: startMs }, () => {
  let folder: string
  let program: ChildProcessByStdio<null, Readable, null>
  let browser: Windows
  let consoleUrl = ''
  let roomPageUrl = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roomdesk-dev-'))
    program = spawn(process.execPath, ['dev/main.ts', '--data-dir', folder], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface(program.stdout)) {
      consoleUrl = /^ +Console +(http\S+)/.exec(line)?.[1] ?? consoleUrl
      roomPageUrl = /^ +Room page +(http\S+)/.exec(line)?.[1] ?? roomPageUrl
      if (line.includes('Ctrl+C')) break
    }
    program.stdout.resume()
    browser = await openWindows()
  }, startMs)
  afterAll(async () => {
    await browser.close()
    if (program.exitCode === null) program.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  // One story: the start takes long, and the last step stops the program.
  test('they see console and room page of the demo site from Vite, on this machine only, until SIGTERM', async () => {
    await step('the printed address opens the console, signed in, with rooms', consoleOpens)
    await step('the printed link opens the room page, with the test cameras', roomPageOpens)
    await step('nothing listens beyond this machine', () => {
      expect(new URL(consoleUrl).hostname).toBe('127.0.0.1')
      expect(new URL(roomPageUrl).hostname).toBe('127.0.0.1')
    })
    await step('SIGTERM stops the pages and the controller', async () => {
      const exited = once(program, 'exit')
      program.kill('SIGTERM')
      expect(await exited).toEqual([0, null])
      await expect(fetch(consoleUrl)).rejects.toThrow('fetch failed')
    })
  })

  async function consoleOpens(): Promise<void> {
    const page = await browser.newPage()
    await page.goto(consoleUrl)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor({ timeout: startMs })
    const client = await page.request.get(`${new URL(consoleUrl).origin}/@vite/client`)
    expect(client.status()).toBe(200)
    await page.getByRole('link', { name: 'Rooms' }).first().click()
    await page.getByRole('row').filter({ hasText: 'Control room' }).waitFor({ timeout: startMs })
    await page.getByRole('row').filter({ hasText: 'Morning round, ward 3' }).getByText('4', { exact: true }).waitFor()
  }

  async function roomPageOpens(): Promise<void> {
    const page = await browser.newPage()
    await page.goto(roomPageUrl)
    await page.getByText('Control room').first().waitFor({ timeout: startMs })
    const client = await page.request.get(new URL('@vite/client', page.url()).href)
    expect(client.status()).toBe(200)
  }
})
