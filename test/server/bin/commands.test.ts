import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { built } from '../../support/built.ts'

const program = built('server/headless.js')

/** Runs the program as `roomdesk …`, and resolves to its output and exit code. */
async function roomdesk(...words: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}

test('An unknown command ends with 2 and names the commands; --help describes them', async () => {
  const unknown = await roomdesk('conformence', '--media=http://127.0.0.1:1')
  expect(unknown).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('no command "conformence"') })
  expect(unknown.stderr).toContain('conformance')
  const help = await roomdesk('--help')
  expect(help.code).toBe(0)
  expect(help.stdout).toMatch(/^Usage: roomdesk \[flags\]/)
  expect(help.stdout).toContain('  conformance --media URL')
})

test('Every command explains itself', async () => {
  const { stdout } = await roomdesk('--help')
  const [, listed = ''] = stdout.split('\nCommands: ')
  const names = [...listed.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name = '']) => name)
  expect(names).toContain('check-report')
  for (const name of names) {
    const help = await roomdesk(name, '--help')
    const described = { code: 0, stdout: expect.stringMatching(new RegExp(`^Usage: roomdesk ${name}`)) }
    expect(help).toEqual({ ...described, stderr: '' })
  }
})

test('A command with wrong flags, or without an answer, ends with 2 and one sentence', async () => {
  const wrong = await roomdesk('conformance', '--medai=http://127.0.0.1:1')
  expect(wrong).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining("'--medai'") })
  const url = `http://127.0.0.1:${await freePort()}`
  const keys = ['--access-key=demo_access', '--secret-key=demo_secret']
  const silent = await roomdesk('conformance', `--media=${url}`, `--device=${url}`, ...keys)
  expect(silent.code).toBe(2)
  expect(silent.stderr).toBe(`The server ${url}/ refused the connection: nothing listens on this address and port.\n`)
})

test('npm run roomdesk runs a command right after the installation', async () => {
  const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } })
  const [, script = ''] = /^node (\S+)$/.exec(manifest.scripts.roomdesk) ?? []
  const root = join(import.meta.dirname, '../../..')
  const child = spawn(process.execPath, [join(root, script), '--version'], { stdio: ['ignore', 'pipe', 'inherit'] })
  expect(await text(child.stdout)).toBe(`${manifest.version}\n`)
})
