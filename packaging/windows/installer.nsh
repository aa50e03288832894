; What electron-builder's installer does besides: it ends the running app in order before files are replaced or removed, and leaves nothing behind.

!include "getProcessInfo.nsh"
Var pid
!ifndef BUILD_UNINSTALLER
  Var serviceRan
!endif

; Reads whether the service runs before anything stops it: the old version's uninstaller stops it first, and with UAC the sections run in a second
; instance, which begins here with empty variables.
!macro customInit
  nsExec::Exec `"$SYSDIR\cmd.exe" /d /c ""$SYSDIR\sc.exe" query Roomdesk | "$SYSDIR\find.exe" "RUNNING""`
  Pop $serviceRan
!macroend

; The file quit-request asks the apps of all users to end in order, and names the process after whose end they start again (main/quit-requests.ts): this installer, or the one that runs
; this uninstaller for an upgrade. Only who may write into the program's folder can ask. A person who removes the app, or ends it, does not get it back.
!macro askToQuit
  ${GetProcessInfo} 0 $pid $1 $2 $3 $4
  !ifdef BUILD_UNINSTALLER
    ${if} ${isUpdated}
      StrCpy $R1 "restart-after $1"
    ${else}
      StrCpy $R1 "quit"
    ${endIf}
  !else
    StrCpy $R1 "restart-after $pid"
  !endif
  ClearErrors
  FileOpen $R0 "$INSTDIR\quit-request" w
  ${ifNot} ${Errors}
    FileWrite $R0 "$R1$\r$\n"
    FileClose $R0
    Sleep 2000
  ${endIf}
!macroend

; The apps store what they owe and end. `roomdesk --quit` waits up to 20 s for that of this user, also for one of a version that reads no request; then those of others get up to 20 s. What
; is still there then, such as a hanging app, is ended as electron-builder does it.
; A service of this machine is stopped by its manager, which waits for it, and started again with the new files.
!macro customCheckAppRunning
  nsExec::Exec `"$SYSDIR\net.exe" stop Roomdesk`
  Pop $R0
  !insertmacro IS_POWERSHELL_AVAILABLE
  ${if} ${FileExists} "$INSTDIR\${APP_EXECUTABLE_FILENAME}"
    !insertmacro askToQuit
    nsExec::Exec `"$INSTDIR\${APP_EXECUTABLE_FILENAME}" --quit`
    Pop $R0
    StrCpy $R1 0
    ${do}
      !insertmacro FIND_PROCESS "${APP_EXECUTABLE_FILENAME}" $R0
      ${if} $R0 != 0
        ${exitDo}
      ${endIf}
      Sleep 1000
      IntOp $R1 $R1 + 1
    ${loopUntil} $R1 >= 20
    Delete "$INSTDIR\quit-request"
  ${endIf}
  !insertmacro _CHECK_APP_RUNNING
!macroend

!macro startService
  ${if} $serviceRan == 0
    nsExec::Exec `"$SYSDIR\net.exe" start Roomdesk`
    Pop $R1
  ${endIf}
!macroend

; As electron-builder ends an upgrade whose old version was not removed ($R0: exit code of its uninstaller), but the service runs again, and a silent installation does not
; wait for ever for an answer to its message: one by the system shows it to nobody.
!macro endFailedUpgrade
  IfErrors 0 +3
  DetailPrint `Uninstall was not successful. Not able to launch uninstaller!`
  Return
  ${if} $R0 != 0
    !insertmacro startService
    MessageBox MB_OK|MB_ICONEXCLAMATION "$(uninstallFailed): $R0" /SD IDOK
    DetailPrint `Uninstall was not successful. Uninstaller error code: $R0.`
    SetErrorLevel 2
    Quit
  ${endIf}
!macroend
!macro customUnInstallCheck
  !insertmacro endFailedUpgrade
!macroend
!macro customUnInstallCheckCurrentUser
  !insertmacro endFailedUpgrade
!macroend

!macro customInstall
  !insertmacro startService
  ; electron-builder keeps a copy of the installer for differences between releases (installer.nsh, `installApplicationFiles`), which these updates do not use.
  ${if} $installMode == "all"
    SetShellVarContext current
  ${endIf}
  Delete "$LOCALAPPDATA\${APP_INSTALLER_STORE_FILE}"
  ${GetParent} "$LOCALAPPDATA\${APP_INSTALLER_STORE_FILE}" $R0
  RMDir $R0
  ${if} $installMode == "all"
    SetShellVarContext all
  ${endIf}
!macroend

; Electron makes a shortcut in the Start menu of each user whom the app shows a notification, because it looks for one of all users nowhere (windows_toast_activator.cc, `EnsureShortcut`).
; A user who has an app of their own keeps theirs. Start menus in folders of a server are not reached.
!macro removeUserShortcuts
  StrCpy $R2 0
  ${do}
    EnumRegKey $R3 HKLM "SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList" $R2
    ${if} $R3 == ""
      ${exitDo}
    ${endIf}
    IntOp $R2 $R2 + 1
    ReadRegStr $R4 HKLM "SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList\$R3" ProfileImagePath
    ExpandEnvStrings $R4 $R4
    ${if} $R4 != ""
    ${andIfNot} ${FileExists} "$R4\AppData\Local\Programs\${APP_FILENAME}\${APP_EXECUTABLE_FILENAME}"
      Delete "$R4\AppData\Roaming\Microsoft\Windows\Start Menu\Programs\${PRODUCT_FILENAME}.lnk"
    ${endIf}
  ${loop}
!macroend

; The start at login is an entry of the user: an upgrade keeps it, removing the app removes it. Electron names it after the app's id.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    nsExec::Exec `"$INSTDIR\${APP_EXECUTABLE_FILENAME}" --remove-service`
    Pop $R0
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "${APP_ID}"
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" "${APP_ID}"
    ${if} $installMode == "all"
      !insertmacro removeUserShortcuts
    ${endIf}
  ${endIf}
  ; electron-builder deletes the roaming folder, which the app has left (main/user-folder.ts).
  ${GetParameters} $R0
  ClearErrors
  ${GetOptions} $R0 "--delete-app-data" $R1
  ${ifNot} ${Errors}
    SetShellVarContext current
    RMDir /r "$LOCALAPPDATA\${PRODUCT_FILENAME}"
    ${if} $installMode == "all"
      SetShellVarContext all
    ${endIf}
  ${endIf}
!macroend
