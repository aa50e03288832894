import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { getConfig } from 'app-builder-lib/out/util/config/config.js'
import { expect, test } from 'vitest'
import { appId } from '../../main/app-id.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const root = resolve(import.meta.dirname, '../..')
const templates = join(root, 'node_modules/app-builder-lib/templates/nsis/include')

test('the Windows installer shuts down the running app cleanly, and the uninstaller removes the start at login: makensis accepts both', async (context) => {
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
!define APP_FILENAME "Roomdesk"
!addincludedir "${templates}"
!define APP_EXECUTABLE_FILENAME "Roomdesk.exe"
!define APP_ID "${appId}"
!define APP_INSTALLER_STORE_FILE "roomdesk-updater\\installer.exe"
!macro _isUpdated _a _b _t _f
  !insertmacro _== 1 0 \`\${_t}\` \`\${_f}\`
!macroend
!define isUpdated \`"" isUpdated ""\`
!macro IS_POWERSHELL_AVAILABLE
!macroend
!macro FIND_PROCESS _FILE _RETURN
  StrCpy \${_RETURN} "looked for \${_FILE}"
!macroend
!macro _CHECK_APP_RUNNING
  DetailPrint "killed"
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
  const expand = (...flags: string[]): string =>
    spawnSync('makensis', ['-V1', '-PPO', ...flags, script], { encoding: 'utf8' }).stdout
  const expanded = expand()
  const started = /Function \.onInit\s([^]*?)FunctionEnd/.exec(expanded)?.[1]
  expect(started).toMatch(/sc\.exe" query Roomdesk .*\s+Pop \$serviceRan\s/)
  expect(expanded.match(/Pop \$serviceRan/g)).toHaveLength(1)
  // The request to all users is written first, then `--quit` ends the app of this user; only then are programs killed.
  const asks = (script: string): string => /Section\s([^]*?)SectionEnd/.exec(script)?.[1] ?? ''
  expect(asks(expanded)).toMatch(
    /StrCpy \$R1 "restart-after \$pid"[^]*FileOpen \$R0 "\$INSTDIR\\quit-request" w[^]*FileWrite \$R0 "\$R1\r\n"[^]*--quit`[^]*looked for Roomdesk\.exe[^]*IntCmp `\$R1` `20`[^]*Delete "\$INSTDIR\\quit-request"[^]*killed/,
  )
  // Those that an upgrade ended start again after the installer, which runs this uninstaller; a removal ends them for good.
  expect(asks(expand('-DBUILD_UNINSTALLER'))).toMatch(
    /StrCpy \$R1 "restart-after \$1"[^]*StrCpy \$R1 "quit"[^]*FileOpen \$R0 "\$INSTDIR\\quit-request" w/,
  )
  // No copy of the installer stays behind in the folder of the user who installs.
  expect(asks(expanded)).toMatch(
    /SetShellVarContext current[^]*Delete "\$LOCALAPPDATA\\roomdesk-updater\\installer\.exe"[^]*RMDir \$R0[^]*SetShellVarContext all/,
  )
  // The site is removed with the app only with the flag --delete-app-data.
  const removal = /Section un\.x\s([^]*?)SectionEnd/.exec(expanded)?.[1] ?? ''
  expect(removal).toMatch(
    /--delete-app-data[^]*?IfErrors[^]*?SetShellVarContext current\s+RMDir \/r "\$LOCALAPPDATA\\Roomdesk"/,
  )
  // So do shortcuts that Electron made for each user of an app for all users, but not that of a user who has an app of their own.
  expect(removal).toMatch(
    /`\$installMode` `all`[^]*EnumRegKey \$R3 HKLM "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\ProfileList" \$R2[^]*ReadRegStr \$R4 HKLM "[^"]*ProfileList\\\$R3" ProfileImagePath\s+ExpandEnvStrings \$R4 \$R4[^]*IfFileExists `\$R4\\AppData\\Local\\Programs\\Roomdesk\\Roomdesk\.exe`[^]*Delete "\$R4\\AppData\\Roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Roomdesk\.lnk"/,
  )
  const text = await readFile(join(root, String(nsis?.include)), 'utf8')
  // The service uses the same files: it ends before they are replaced, and runs again afterwards if it ran.
  expect(text.indexOf('stop Roomdesk')).toBeLessThan(text.indexOf('" --quit`'))
  expect(text).toMatch(/\$serviceRan == 0\s+nsExec::Exec `"\$SYSDIR\\net\.exe" start Roomdesk`/)
  expect(text.indexOf('--remove-service')).toBeGreaterThan(text.indexOf('customUnInstall'))
  expect(text.indexOf('--quit')).toBeLessThan(text.indexOf('_CHECK_APP_RUNNING'))
})
