import { app } from 'electron'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startAppAgain } from '../../main/relaunch.ts'
import { takeRestarts } from '../../server/controller/restarts.ts'

const restarts = { times: [1], total: 1, ports: { media: 7080 } }
/** Options of the next start. */
let next: Electron.RelaunchOptions | undefined
let exits: (number | undefined)[]

beforeEach(() => {
  exits = []
  vi.spyOn(app, 'relaunch').mockImplementation((options) => void (next = options))
  vi.spyOn(app, 'exit').mockImplementation((code) => void exits.push(code))
  vi.stubEnv('APPIMAGE', undefined)
})
afterEach(() => {
  delete process.env.ROOMDESK_RESTARTS
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

test('the successor of the app knows the number of previous restarts', () => {
  startAppAgain(restarts)
  expect(exits).toEqual([0])
  expect(next).toEqual({})
  expect(takeRestarts(process.env)).toEqual(restarts)
})

test('an app that runs from an AppImage restarts from the file: its mount point ends with it', () => {
  vi.stubEnv('APPIMAGE', '/home/ann/Roomdesk.AppImage')
  startAppAgain(restarts)
  expect(next).toEqual({ execPath: '/home/ann/Roomdesk.AppImage', args: process.argv.slice(1) })
})
