// @vitest-environment node
/// <reference types="node" />
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, test as base } from 'vitest'
import { codeLanguages, codeLines, wireRequest } from '../../../renderer/console/pages/tester/codeLines.ts'
import type { CodeLanguage } from '../../../renderer/console/pages/tester/codeLines.ts'

const run = promisify(execFile)
const seen: { method: string; url: string; type: string; body: string }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString()
  })
  request.on('end', () => {
    const { method = '', url = '', headers } = request
    seen.push({ method, url, type: headers['content-type'] ?? '', body })
    response.setHeader('content-type', 'application/json')
    response.end('{"ret":0}')
  })
})

const test = base.extend('base', { scope: 'file' }, async ({}, { onCleanup }) => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onCleanup(() => void server.close())
  return base
})

/** Runs the lines as pasted by a person, and returns their output. */
async function pasted(language: CodeLanguage, code: string): Promise<string> {
  const commands = {
    curl: ['sh', ['-c', code]],
    javascript: [process.execPath, ['--input-type=module', '-e', code]],
    python: ['python3', ['-c', code]],
  } as const
  const [program, args] = commands[language]
  return (await run(program, [...args])).stdout
}

const nasty = `早会 'it''s' "quoted" $HOME \`id\` \\ & # %`

describe.each(codeLanguages)('A request copied as %s', (language) => {
  test('sends the same as the tester for a GET', async ({ base }) => {
    const url = `${base}/rtc/room/create?${new URLSearchParams({ topic: nasty, access_token: 'a+b/c==' }).toString()}`
    const text = `GET ${url.slice(base.length)} HTTP/1.1\nHost: x\nAccept: application/json`
    const printed = await pasted(language, codeLines(language, wireRequest(text, url, false)))
    expect(printed).toMatch(/ret/)
    expect(seen.at(-1)).toEqual({ method: 'GET', url: url.slice(base.length), type: '', body: '' })
  })

  test.for([
    ['application/json', JSON.stringify({ userName: nasty, options: { login_password: "p'w\n" } })],
    ['application/x-www-form-urlencoded', new URLSearchParams({ userName: nasty }).toString()],
  ] as const)('carries the same %s body', async ([type, body], { base }) => {
    const url = `${base}/avd/api`
    const text = `POST /avd/api HTTP/1.1\nHost: x\nContent-Type: ${type}\nContent-Length: 1\n\n${body}`
    await pasted(language, codeLines(language, wireRequest(text, url, false)))
    expect(seen.at(-1)).toEqual({ method: 'POST', url: '/avd/api', type, body })
  })
})

test('accepts a self-signed certificate, and says so', () => {
  const request = wireRequest('GET / HTTP/1.1', 'https://127.0.0.1:1/', true)
  expect(codeLines('curl', request)).toBe("curl --insecure 'https://127.0.0.1:1/'")
  expect(codeLines('python', request)).toContain('context=context')
  expect(codeLines('javascript', request)).toContain('NODE_EXTRA_CA_CERTS')
})
