import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { getConfig } from 'app-builder-lib/out/util/config/config.js'
import { expect, test } from 'vitest'
import { appId } from '../../main/app-id.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const root = resolve(import.meta.dirname, '../..')
const templates = join(root, 'node_modules/app-builder-lib/templates/nsis/include')

test('the installer for Windows ends the running app in order, and the uninstaller takes the start at login along: makensis accepts both', async (context) => {
  if (spawnSync('makensis', ['-VERSION']).status !== 0) context.skip('makensis is not here (package nsis)')
  const { nsis } = await getConfig(root, null, null)
  expect(nsis?.include).toBe('packaging/windows/installer.nsh')
  const folder = await temporaryFolder()
  const script = join(folder, 'probe.nsi')
  // The macros around it are electron-builder's own; `isUpdated` reads a flag there.
  await writeFile(
    script,
    `Unicode true
!include LogicLib.nsh
!include FileFunc.nsh
Var installMode
!define PRODUCT_FILENAME "Roomdesk"
!addincludedir "${templates}"
!define APP_EXECUTABLE_FILENAME "Roomdesk.exe"
!define APP_ID "${appId}"
!macro _isUpdated _a _b _t _f
  !insertmacro _== 1 0 \`\${_t}\` \`\${_f}\`
!macroend
!define isUpdated \`"" isUpdated ""\`
!macro IS_POWERSHELL_AVAILABLE
!macroend
!macro _CHECK_APP_RUNNING
!macroend
!include "${join(root, String(nsis?.include))}"
OutFile "${join(folder, 'probe.exe')}"
Function .onInit
  !insertmacro customInit
FunctionEnd
Section
  !insertmacro customCheckAppRunning
  !insertmacro customInstall
  WriteUninstaller "$INSTDIR\\u.exe"
SectionEnd
Section un.x
  !insertmacro customUnInstall
SectionEnd
`,
  )
  const made = spawnSync('makensis', ['-V2', script], { encoding: 'utf8' })
  expect(`${made.stdout}${made.stderr}`).not.toMatch(/error/i)
  expect(made.status).toBe(0)
  // With UAC, the instance that installs begins at .onInit: by then the state of the service must be known, and stopping it must not overwrite it.
  const { stdout: expanded } = spawnSync('makensis', ['-V1', '-PPO', script], { encoding: 'utf8' })
  const started = /Function \.onInit\s([^]*?)FunctionEnd/.exec(expanded)?.[1]
  expect(started).toMatch(/sc\.exe" query Roomdesk .*\s+Pop \$serviceRan\s/)
  expect(expanded.match(/Pop \$serviceRan/g)).toHaveLength(1)
  // The site goes with the app only where the uninstaller was told so.
  const removal = /Section un\.x\s([^]*?)SectionEnd/.exec(expanded)?.[1] ?? ''
  expect(removal).toMatch(
    /--delete-app-data[^]*?IfErrors[^]*?SetShellVarContext current\s+RMDir \/r "\$LOCALAPPDATA\\Roomdesk"/,
  )
  const text = await readFile(join(root, String(nsis?.include)), 'utf8')
  // The service uses the same files: it ends before they are replaced, and runs again afterwards if it ran.
  expect(text.indexOf('stop Roomdesk')).toBeLessThan(text.indexOf('" --quit`'))
  expect(text).toMatch(/\$serviceRan == 0\s+nsExec::Exec `"\$SYSDIR\\net\.exe" start Roomdesk`/)
  expect(text.indexOf('--remove-service')).toBeGreaterThan(text.indexOf('customUnInstall'))
  expect(text.indexOf('--quit')).toBeLessThan(text.indexOf('_CHECK_APP_RUNNING'))
})
