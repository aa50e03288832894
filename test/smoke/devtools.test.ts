import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chromiumProgram } from '../support/chromium-program.ts'
import { DevtoolsPage, devtoolsAddress, forgetPort } from './devtools.ts'
import { nodeIsAbsent, policyHolds } from './page-checks.ts'
import { descendantsOf } from './processes.ts'
import { isConsole } from './running-app.ts'

/** A browser in place of the app: the same DevTools. Its page lacks everything that the console must have. */
let profile: string
let browser: ChildProcess
let server: Server
let page: DevtoolsPage

beforeAll(async () => {
  profile = await mkdtemp(join(tmpdir(), 'roomdesk-devtools-'))
  const html = '<!doctype html><title>Bare</title><script>globalThis.process = {}; globalThis.roomdesk = {}</script>'
  server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(html))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const flags = ['--headless', '--remote-debugging-port=0', '--no-first-run', '--disable-background-networking']
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  browser = spawn(chromiumProgram, [...flags, ...asRoot, `--user-data-dir=${profile}`, url], { stdio: 'ignore' })
  // Reads the port from the file only: ignores its output.
  const address = await devtoolsAddress(profile, () => '')
  page = await DevtoolsPage.open(address, (target) => target === url)
  // The page exists before its document; one that crashes before has nothing to reload.
  await vi.waitFor(async () => expect(await page.evaluate('document.title')).toBe('Bare'), 10_000)
})
afterAll(async () => {
  page.close()
  const ended = once(browser, 'exit')
  browser.kill()
  await ended
  server.close()
  await rm(profile, { recursive: true, force: true, maxRetries: 10 })
})

test('a page evaluates expressions, awaits promises, and reports exceptions', async () => {
  expect(await page.evaluate('document.title')).toBe('Bare')
  expect(await page.evaluate('new Promise((resolve) => setTimeout(() => resolve({ late: true }), 1))')).toEqual({
    late: true,
  })
  await expect(page.evaluate('missing.thing')).rejects.toThrow('missing is not defined')
  await expect(page.send('No.such')).rejects.toThrow(/^No\.such: /)
})

test('a page without a policy, and one with access to Node, are detected', async () => {
  await expect(policyHolds(page)).rejects.toThrow(`lacks default-src 'self' and`)
  await expect(nodeIsAbsent(page)).rejects.toThrow('the page has process')
  await page.evaluate('delete globalThis.process')
  await expect(nodeIsAbsent(page)).rejects.toThrow('the page can change its bridge')
})

test('the processes below the app are found by their parents', async () => {
  const below = await descendantsOf(browser.pid ?? 0)
  expect(below.some(({ command }) => command.includes('--type=renderer'))).toBe(true)
  expect(below.some(({ pid }) => pid === process.pid)).toBe(false)
})

test('a crash of a page is detected, and the page answers again after a reload', async () => {
  const crashed = page.next('Inspector.targetCrashed')
  page.send('Page.crash').catch(() => undefined)
  await crashed
  await page.send('Page.reload')
  await expect.poll(() => page.evaluate('document.title')).toBe('Bare')
})

test('the port is read from a line or from the file; that of an earlier run is ignored', async () => {
  const line = 'DevTools listening on ws://127.0.0.1:4711/devtools/browser/x\n'
  expect(await devtoolsAddress(join(profile, 'none'), () => `noise\n${line}`)).toBe('http://127.0.0.1:4711')
  await forgetPort(profile)
  await expect(devtoolsAddress(profile, () => '', 1)).rejects.toThrow('the app reports the port of its DevTools')
})

test('the console is recognised by its address, on Electron and on the stand-in', () => {
  expect(isConsole('app://roomdesk/index.html#/rooms')).toBe(true)
  expect(isConsole('http://roomdesk.app.localhost/index.html')).toBe(true)
  expect(isConsole('devtools://devtools/bundled/inspector.html')).toBe(false)
})
