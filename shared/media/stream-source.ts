/** Which of somebody's streams: camera and microphone, or the screen. */
export const streamSources = ['main', 'screen'] as const
export type StreamSource = (typeof streamSources)[number]

/** Suffix of the id of a screen's stream, after the user's id; no user's id may end with it. */
export const screenSuffix = '~screen'
