/** Kind of a user's stream: camera and microphone, or the screen. */
export const streamSources = ['main', 'screen'] as const
export type StreamSource = (typeof streamSources)[number]

/** Suffix of a screen's stream id, after the user's id; no user id may end with it. */
export const screenSuffix = '~screen'
