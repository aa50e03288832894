import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { usage } from '../../server/bin/launch-options.ts'

const root = resolve(import.meta.dirname, '../..')
const page = await readFile(join(root, 'docs/operate/high-availability.md'), 'utf8')
/** Reads the configuration below a heading that names its file. */
const configuration = (file: string): string =>
  new RegExp(`^###.*\`${file}\`[^]*?^\`\`\`\\w*\n([^]*?)^\`\`\``, 'm').exec(page)?.[1] ?? ''

test('docs/operate/high-availability.md sets only options that Roomdesk knows, has no dead link, and is linked from the other pages', async () => {
  const variables = [...page.matchAll(/ROOMDESK_([A-Z_]+)/g)]
  expect(variables.length).toBeGreaterThan(2)
  for (const [variable, name = ''] of variables)
    expect(usage, variable).toContain(`--${name.toLowerCase().replaceAll('_', '-')} `)
  for (const [, path = ''] of page.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g))
    expect(existsSync(join(root, 'docs/operate', path)), path).toBe(true)
  for (const from of ['README.md', 'README.zh-CN.md', 'docs/operate/install.md', 'docs/operate/data.md'])
    expect(await readFile(join(root, from), 'utf8'), from).toContain('high-availability.md')
})

test('The HAProxy configuration of the page checks health at the console port and has a frontend for each port of the APIs and the node', () => {
  const text = configuration('/etc/haproxy/haproxy.cfg')
  const servers = [...text.matchAll(/^ {2}server \w+ ([\d.]+):(\d+) check port 7083$/gm)]
  expect(servers).toHaveLength(text.match(/^ {2}server /gm)?.length ?? 0)
  for (const port of ['7080', '7081', '7082']) {
    expect(text).toContain(`bind 10.0.0.10:${port}`)
    expect(servers.filter(([, , to]) => to === port)).toHaveLength(4)
  }
  // Without it in the backend itself, HAProxy only checks whether the port is open.
  expect(text.match(/^ {2}option httpchk GET \/healthz$/gm)).toHaveLength(6)
})

test.skipIf(!existsSync('/usr/sbin/haproxy'))('HAProxy accepts its configuration', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-haproxy-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, configuration('/etc/haproxy/haproxy.cfg'))
  expect(execFileSync('/usr/sbin/haproxy', ['-c', '-f', file], { encoding: 'utf8' })).toContain('valid')
})

test('Every file of the page uses TLS to other machines, with a password and a verified certificate', () => {
  const files = [...page.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, text = '']) => text)
  for (const text of files) {
    expect(text).not.toMatch(/http:\/\//)
    expect(text).not.toMatch(/\btrust$|\bhost all all\b|^\s*- host\s|sslmode(?:=|: )(?!verify-full)/m)
    expect(text).not.toMatch(/postgres:\/\/\w+:/)
  }
  const etcd = configuration('/etc/default/etcd')
  for (const setting of ['CERT_FILE', 'KEY_FILE', 'TRUSTED_CA_FILE', 'CLIENT_CERT_AUTH=true'])
    expect(etcd).toMatch(new RegExp(`^ETCD_${setting}[^]*^ETCD_PEER_${setting}`, 'm'))
  const patroni = configuration('/etc/patroni/config.yml')
  for (const [part, setting] of [
    ['restapi', 'verify_client: required'],
    ['restapi', 'authentication:'],
    ['etcd3', 'protocol: https'],
    ['etcd3', 'password: '],
    ['postgresql', 'ssl: "on"'],
  ] as const)
    expect(patroni, part).toMatch(new RegExp(`^${part}:\n(?: .*\n)*? .*${setting}`, 'm'))
  expect(patroni.match(/sslmode: verify-full\n\s+sslrootcert: /g)).toHaveLength(3)
  expect(configuration('/etc/roomdesk/roomdesk.env')).toMatch(/sslmode=verify-full&sslrootcert=.*\n.*_PASSWORD_FILE=/)
})
