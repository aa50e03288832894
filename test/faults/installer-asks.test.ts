import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, win32 } from 'node:path'
import { expect, test } from 'vitest'
import { isGenuine, launch } from '../e2e/desktop.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

// Electron itself would look for files of Windows.
test.skipIf(isGenuine)(
  'a Windows installer shuts down the running app cleanly, and Windows starts the app again',
  async () => {
    const folder = await temporaryFolder(tmpdir())
    const [program, programs] = [join(folder, 'Program Files'), join(folder, 'bin')]
    for (const each of [program, programs]) await mkdir(each)
    // Windows PowerShell, found by its path on Windows.
    const powershell = win32.join(folder, 'System32\\WindowsPowerShell\\v1.0\\powershell.exe')
    const noted = join(folder, 'noted')
    const note = '"$ROOMDESK_INSTALLER" "$ROOMDESK_PROGRAM" "$ROOMDESK_ARGUMENTS" "$@"'
    await writeFile(join(programs, powershell), `#!/bin/sh\nprintf '%s\\n' ${note} > '${noted}'\n`, { mode: 0o755 })
    const env = {
      ...{ WINDOWS_PROGRAM: program, SystemRoot: folder, TEMP: tmpdir(), APPDATA: folder, LOCALAPPDATA: folder },
      ...{ PATH: `${programs}:${process.env.PATH}`, STANDIN_KEYCHAIN: 'working' },
    }
    await using desktop = await launch({ before: [join(import.meta.dirname, 'as-installed-on-windows.cjs')], env })
    await desktop.call('rooms.create', { topic: 'Kept' })
    const ended = once(desktop.app.process(), 'exit')
    await writeFile(join(program, 'quit-request'), 'restart-after 4711\r\n')
    expect(await ended).toEqual([0, null])
    const said = (await readFile(noted, 'utf8')).split('\n')
    expect(said.slice(0, 2)).toEqual(['4711', `${program}/Roomdesk.exe`])
    expect(said[2]).toContain(`--user-data-dir=${desktop.userData}`)
    expect(said.join(' ')).toContain('Start-Process -FilePath $env:ROOMDESK_SHELL')
    const log = await readFile(join(desktop.userData, 'logs/roomdesk.log'), 'utf8')
    expect(log).toContain('asked to end by an installer')
    // Open walls open again.
    expect(JSON.parse(await readFile(join(desktop.userData, 'window.json'), 'utf8'))).toMatchObject({
      updates: { installing: expect.stringMatching(/./) },
    })
  },
)
