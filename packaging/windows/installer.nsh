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

; The app stores what it owes and ends (roomdesk --quit waits up to 20 s). What is still there then, such as a hanging app, is ended as electron-builder does it.
; A service of this machine is stopped by its manager, which waits for it, and started again with the new files.
!macro customCheckAppRunning
  nsExec::Exec `"$SYSDIR\net.exe" stop Roomdesk`
  Pop $R0
  ${if} ${FileExists} "$INSTDIR\${APP_EXECUTABLE_FILENAME}"
    nsExec::Exec `"$INSTDIR\${APP_EXECUTABLE_FILENAME}" --quit`
    Pop $R0
  ${endIf}
  !insertmacro IS_POWERSHELL_AVAILABLE
  !insertmacro _CHECK_APP_RUNNING
!macroend

!macro customInstall
  ${if} $serviceRan == 0
    nsExec::Exec `"$SYSDIR\net.exe" start Roomdesk`
    Pop $R0
  ${endIf}
!macroend

; The start at login is an entry of the user: an upgrade keeps it, removing the app removes it. Electron names it after the app's id.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    nsExec::Exec `"$INSTDIR\${APP_EXECUTABLE_FILENAME}" --remove-service`
    Pop $R0
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "${APP_ID}"
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" "${APP_ID}"
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
