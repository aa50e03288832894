/** Returns the command that installs ffmpeg on this machine. */
export function ffmpegInstallCommand(platform = process.platform): string {
  if (platform === 'win32') return 'winget install ffmpeg'
  return platform === 'darwin' ? 'brew install ffmpeg' : 'apt install ffmpeg'
}
