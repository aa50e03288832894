import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manualPage, optionsFile, readOptions } from '../../packaging/build/option.ts'
import { serviceEnvironment } from '../../packaging/server/service-environment.mjs'
import { commandNames, commandUsage } from '../../server/bin/commands.ts'
import { readLaunchOptions, usage } from '../../server/bin/launch-options.ts'

const flags = [...usage.matchAll(/^ {2}--([\w-]+)/gm)].map(([, flag]) => String(flag))

test('the file of options names every persistent option with its default', () => {
  const file = optionsFile(readOptions(usage))
  const named = [...file.matchAll(/^#ROOMDESK_(\w+)=/gm)].map(([, name]) => name?.toLowerCase().replaceAll('_', '-'))
  const forOnce = ['data-dir', 'move-store', 'console-key', 'janus-config', 'verify-log', 'version']
  expect(named).toEqual(flags.filter((flag) => !forOnce.includes(flag)))
  expect(file).toContain('#ROOMDESK_MEDIA_PORT=7080\n')
  expect(file).toContain('#ROOMDESK_HOST=127.0.0.1\n')
  // Unchanged it sets nothing; with every default enabled, the program accepts it and behaves the same.
  expect(serviceEnvironment(file)).toEqual({})
  const taken = serviceEnvironment(file.replaceAll(/^#(?=ROOMDESK_)/gm, ''))
  const { mediaPort, nodePort, logLevel } = readLaunchOptions([], taken)
  expect({ mediaPort, nodePort, logLevel }).toEqual({ mediaPort: 7080, nodePort: 7082, logLevel: 'info' })
})

test('the manual page describes every flag', () => {
  const page = manualPage(readOptions(usage), commandUsage, '1.2.3', '2026-01-01')
  const told = [...page.matchAll(/^\.TP\n\.B \\-\\-([\w\\-]+)/gm)].map(([, flag]) => flag?.replaceAll('\\', ''))
  expect(told).toEqual(flags)
  for (const name of commandNames) expect(page.replaceAll('\\-', '-')).toContain(`\n  ${name} `)
})

test('the command reads the options of the service like systemd', () => {
  const text = [
    '# a comment',
    '; another',
    'ROOMDESK_HOST = 0.0.0.0  ',
    'ROOMDESK_STORE=postgres://roomdesk:se#cret@db1,db2/roomdesk',
    'ROOMDESK_SITE="/etc/room desk/\\"site\\".json"',
    "ROOMDESK_FFMPEG='/opt/a \\b'/ffmpeg",
    'ROOMDESK_LOG_LEVEL=\\',
    'warn',
    'no assignment',
    '#ROOMDESK_NODE_PORT=7082',
  ].join('\n')
  expect(serviceEnvironment(text)).toEqual({
    ROOMDESK_HOST: '0.0.0.0',
    ROOMDESK_STORE: 'postgres://roomdesk:se#cret@db1,db2/roomdesk',
    ROOMDESK_SITE: '/etc/room desk/"site".json',
    ROOMDESK_FFMPEG: '/opt/a \\b/ffmpeg',
    ROOMDESK_LOG_LEVEL: 'warn',
  })
})

test("the unit's stop timeout exceeds the program's own for active requests", () => {
  const unit = readFileSync(join(import.meta.dirname, '../../packaging/server/roomdesk.service'), 'utf8')
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(5)
})
