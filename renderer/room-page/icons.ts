/** Line icons of the room page on a 20 by 20 grid, in the hand of the console's: path data by name. */
export const icons = {
  microphone:
    'M10 3a2.2 2.2 0 0 1 2.2 2.2v4.4a2.2 2.2 0 0 1-4.4 0V5.2A2.2 2.2 0 0 1 10 3zM5 9.4a5 5 0 0 0 10 0M10 14.4V17M7.4 17h5.2',
  microphoneOff:
    'M12.2 8V5.2a2.2 2.2 0 0 0-4.3-.6M7.8 8v1.6a2.2 2.2 0 0 0 3.2 2M5 9.4a5 5 0 0 0 7.6 4.2M15 9.4a5 5 0 0 1-.5 2.2M10 14.4V17M7.4 17h5.2M3.5 3.5l13 13',
  camera: 'M3 5.8h9v8.4H3zM12 8.8l5-2.6v7.6l-5-2.6',
  cameraOff: 'M7 5.8h5v5M12 14.2H3V5.8h.6M12 8.8l5-2.6v7.6l-3-1.6M3.5 3.5l13 13',
  screen: 'M2.8 4.2h14.4v9.4H2.8zM7 16.8h6M10 11.4V6.6M7.8 8.6 10 6.4l2.2 2.2',
  screenOff: 'M2.8 4.2h14.4v9.4H2.8zM7 16.8h6M8 7l4 4M12 7l-4 4',
  chat: 'M3 4h14v9.5H9.5L6 16.8v-3.3H3zM6.5 7.4h7M6.5 10.2h4.5',
  people:
    'M10 7a2.6 2.6 0 1 1-5.2 0A2.6 2.6 0 0 1 10 7zM2.6 16a4.8 4.8 0 0 1 9.6 0M12.6 4.6a2.6 2.6 0 0 1 0 4.8M14 11.6a4.8 4.8 0 0 1 3.4 4.4',
  leave: 'M8 4H4v12h4M8 10h8.5M13.5 6.8 16.7 10l-3.2 3.2',
  fullScreen: 'M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4',
  exitFullScreen: 'M7.5 3.5v4h-4M16.5 7.5h-4v-4M12.5 16.5v-4h4M3.5 12.5h4v4',
  enlarge: 'M3 4h14v12H3zM12.5 9.5H17M12.5 4v12',
  shrink: 'M3 4h6v5H3zM11 4h6v5h-6zM3 11h6v5H3zM11 11h6v5h-6z',
  pin: 'M7.2 3h5.6M8.2 3v5.2L5.6 11v1.2h8.8V11l-2.6-2.8V3M10 12.2V17',
  more: 'M4.4 9.5a.5.5 0 1 0 .1 0zM10 9.5a.5.5 0 1 0 .1 0zM15.6 9.5a.5.5 0 1 0 .1 0z',
  close: 'm5 5 10 10M15 5 5 15',
  send: 'M3.5 10 16.5 4l-4 12.5-3-5z',
  up: 'm5.5 12 4.5-4.5 4.5 4.5',
  check: 'm4.5 10.5 3.6 3.6 7.4-8',
  warning: 'M10 3.5 17.5 16.5h-15zM10 8.5v3.6M10 14.2v.1',
  info: 'M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM10 9.2v4M10 6.6v.1',
  language: 'M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM3.5 10h13M10 3.5c4 4 4 9 0 13M10 3.5c-4 4-4 9 0 13',
  device: 'M3 6h9.5v8H3zM12.5 9 17 6.5v7L12.5 11M5.5 8.5h2',
  door: 'M4 16.5h12M6 16.5V3.5h8v13M11.4 10v.3',
  lock: 'M5 9h10v7.5H5zM7 9V6.8a3 3 0 0 1 6 0V9',
  speaker: 'M3.5 8v4h3l4 3.2V4.8L6.5 8zM13.4 7.4a4 4 0 0 1 0 5.2',
} as const

export type IconName = keyof typeof icons
