/** Reads an environment file as systemd does (systemd.exec(5), EnvironmentFile=). */
export function serviceEnvironment(text: string): Record<string, string>
