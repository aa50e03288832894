import { dialog } from 'electron'
import { expect, test, vi } from 'vitest'
import { explainFirewall } from '../../main/start-controller.ts'
import { textsFor } from '../../main/texts.ts'
import { onSystem } from '../support/on-system.ts'

/** Reads the operator's notice for a new site that listens there. */
async function told(on: NodeJS.Platform, host: string | undefined): Promise<string[]> {
  onSystem(on)
  const said: string[] = []
  vi.spyOn(dialog, 'showMessageBox').mockImplementation(async (...values: unknown[]) => {
    said.push((values.at(-1) as { detail: string }).detail)
    return await Promise.resolve({ response: 0, checkboxChecked: false })
  })
  await explainFirewall(host, textsFor('en', 'en'))
  return said
}

test('a new site that other machines can reach says what the system will ask', async () => {
  expect(await told('win32', '0.0.0.0')).toEqual([expect.stringContaining('allow private networks')])
  expect(await told('darwin', '10.0.0.5')).toEqual([expect.stringContaining('allow both')])
})

test('no notice appears if no other machine can connect, or the system does not ask', async () => {
  expect(await told('win32', undefined)).toEqual([])
  expect(await told('win32', '127.0.0.1')).toEqual([])
  expect(await told('linux', '0.0.0.0')).toEqual([])
})
